import { Button, ButtonLink, Checkbox, Field, Form } from '../../ui/components/form.tsx';
import { Message } from '../../ui/components/message.tsx';
import { PasskeyActions } from '../../ui/components/passkey-actions.tsx';
import { Text } from '../../ui/components/text.tsx';
import { ShortPage } from '../../ui/short-page.tsx';
import { SIGN_IN } from '../../web/access.ts';
import { RESET } from '../admin/reset-links.ts';
import type { InvitationRow, listPasskeys } from '../store/members.ts';
import { invitationPath } from './access.ts';
import { MIN_PASSWORD } from './auth-settings.ts';
import { SETUP } from './first-administrator.ts';

type MemberSignInProps = {
  /** The page to go to then. */
  to: string;
  email?: string;
  error?: string | undefined;
  message?: string | undefined;
  hasOpenId: boolean;
};

export function MemberSignInPage({ to, email = '', error, message, hasOpenId }: MemberSignInProps) {
  return (
    <ShortPage title="Sign in">
      {message !== undefined && <Message kind="info">{message}</Message>}
      {error !== undefined && <Message kind="error">{error}</Message>}
      <Form action={SIGN_IN} csrf="" fields={{ to }}>
        <Field label="Email" name="email" type="email" value={email} autocomplete="username" maxLength={254} required />
        <Field
          label="Password"
          name="password"
          type="password"
          autocomplete="current-password"
          maxLength={200}
          required
        />
        <Button variant="primary">Sign in</Button>
      </Form>
      <PasskeyActions action="sign-in" label="Sign in with a passkey" to={to}>
        {hasOpenId && <ButtonLink href={openIdPath(to)}>Sign in with single sign-on</ButtonLink>}
      </PasskeyActions>
      <p class="small">
        <a href="/ui/forgot">Forgot the password?</a>
      </p>
      <p class="soft small">No account yet? An owner of your organization can invite you.</p>
    </ShortPage>
  );
}

export function ForgotPage({
  hasMail,
  email = '',
  error,
}: {
  hasMail: boolean;
  email?: string;
  error?: string | undefined;
}) {
  return (
    <ShortPage title="New password" heading="Forgot the password?">
      {hasMail ? (
        <Form action="/ui/forgot" csrf="">
          <Field
            label="Email"
            name="email"
            type="email"
            value={email}
            error={error}
            autocomplete="username"
            hint="You get a link to set a new password."
            maxLength={254}
            required
          />
          <Button variant="primary">Send the link</Button>
        </Form>
      ) : (
        <p>
          This platform sends no mail. Its operator makes a link for you: <code>galley members reset EMAIL</code>
        </p>
      )}
      <p>
        <a href={SIGN_IN}>Back</a>
      </p>
    </ShortPage>
  );
}

type ResetProps = { link: string; passkeys: Awaited<ReturnType<typeof listPasskeys>>; error?: string };

/** The form of a link for a new password. Someone who got in may have added a passkey, so they are removed by default. */
export function ResetPage({ link, passkeys, error }: ResetProps) {
  const added = passkeys.map(({ createdAt }) => createdAt?.toISOString().slice(0, 10) ?? 'unknown').join(', ');
  return (
    <ShortPage title="New password" heading="Set a new password">
      <Form action={RESET} csrf="" fields={{ link }}>
        <NewPassword label="New password" then="All your sessions end." error={error} />
        {passkeys.length > 0 && (
          <Checkbox
            label={`Keep my passkeys, added on: ${added}`}
            name="passkeys"
            value="keep"
            hint="Keep them only if you added each of them yourself. Otherwise they are removed."
          />
        )}
        <Button variant="primary">Set the password</Button>
      </Form>
    </ShortPage>
  );
}

/** Begins to sign in at the OpenID provider, to go to that path then. */
function openIdPath(to: string): string {
  return `/ui/sign-in/openid?to=${encodeURIComponent(to)}`;
}

/** Shown for a moment between the OpenID provider and the page that was asked for. */
export function SignedInPage({ to }: { to: string }) {
  return (
    <ShortPage title="Signed in" heading="You are signed in">
      <p>
        <a href={to}>Continue</a>
      </p>
    </ShortPage>
  );
}

type NewPasswordProps = { label?: string; name?: string; then?: string; error?: string | undefined };

/** `then`: what the change does besides. */
export function NewPassword({ label = 'Password', name = 'password', then = '', error }: NewPasswordProps) {
  return (
    <Field
      {...{ label, name, error }}
      type="password"
      autocomplete="new-password"
      hint={`At least ${MIN_PASSWORD} characters. ${then}`.trim()}
      maxLength={200}
      required
    />
  );
}

type NewUserProps = { name?: string; nameError?: string | undefined; passwordError?: string | undefined };

function NewUserFields({ name = '', nameError, passwordError }: NewUserProps) {
  return (
    <>
      <Field
        label="Your name"
        name="name"
        value={name}
        autocomplete="name"
        error={nameError}
        maxLength={100}
        required
      />
      <NewPassword error={passwordError} />
    </>
  );
}

type SetupProps = NewUserProps & {
  link: string;
  organization: string;
  email?: string;
  emailError?: string | undefined;
  organizationError?: string | undefined;
};

/** The form of the first administrator's link. */
export function SetupPage({ link, organization, email = '', emailError, organizationError, ...user }: SetupProps) {
  return (
    <ShortPage title="First administrator" heading="Create the first account">
      <p class="soft">You become the owner of the organization. Everyone else needs an invitation.</p>
      <Form action={SETUP} csrf="" fields={{ link }}>
        <Field
          label="Organization"
          name="organization"
          value={organization}
          {...(organization !== '' && { hint: 'Another name renames it.' })}
          error={organizationError}
          maxLength={200}
          required
        />
        <Field
          label="Email"
          name="email"
          type="email"
          value={email}
          error={emailError}
          autocomplete="username"
          maxLength={254}
          required
        />
        <NewUserFields {...user} />
        <Button variant="primary">Create the account</Button>
      </Form>
    </ShortPage>
  );
}

type InvitationProps = NewUserProps & {
  invitation: InvitationRow;
  /** There is an account with this email already. */
  isKnown: boolean;
  /** CSRF token of the invited person's session; undefined: not signed in as that person. */
  csrf: string | undefined;
  hasOpenId: boolean;
};

/** An invitation's link: a new person signs up, one with an account accepts. */
export function InvitationPage({ invitation, isKnown, csrf, hasOpenId, ...user }: InvitationProps) {
  const path = invitationPath(invitation.id);
  return (
    <ShortPage
      title="Invitation"
      heading={
        <>
          Join <Text>{invitation.organization}</Text>
        </>
      }
    >
      <p>
        <Text>{invitation.email}</Text> is invited as {invitation.role}.
      </p>
      {csrf !== undefined && (
        <Form action={path} csrf={csrf}>
          <Button variant="primary">Accept</Button>
        </Form>
      )}
      {csrf === undefined && isKnown && (
        <ButtonLink href={`${SIGN_IN}?to=${encodeURIComponent(path)}`} variant="primary">
          Sign in to accept
        </ButtonLink>
      )}
      {csrf === undefined && !isKnown && (
        <Form action={path} csrf="">
          <NewUserFields {...user} />
          <Button variant="primary">Create the account and join</Button>
        </Form>
      )}
      {csrf === undefined && !isKnown && hasOpenId && (
        <div class="actions">
          <ButtonLink href={openIdPath(path)}>Join with single sign-on</ButtonLink>
        </div>
      )}
    </ShortPage>
  );
}
