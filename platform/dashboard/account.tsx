import type { Router } from 'express';
import { ActionButton, Button, Field, Form, Select } from '../../ui/components/form.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { PasskeyActions } from '../../ui/components/passkey-actions.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Text } from '../../ui/components/text.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { SIGN_IN } from '../../web/access.ts';
import { HttpError } from '../../web/http-error.ts';
import { fieldOf } from '../../web/request.ts';
import { recordAction } from '../store/audit-log.ts';
import { deleteSessions, listPasskeys, listSessions } from '../store/members.ts';
import { asSession, authHeaders, copyCookies } from './access.ts';
import { MIN_PASSWORD } from './auth-settings.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { messagesOf, withMessage } from './done-messages.ts';
import { MemberLayout, type MemberLayoutProps, PATHS } from './layout.tsx';
import { addAction, addPage, EVERYONE } from './pages.ts';
import { forgetSignInAttempts, takeSignInAttempt } from './sign-in-limit.ts';
import { NewPassword } from './sign-in-pages.tsx';

/** A member's own account: organization, password, passkeys and sessions. */
export function addAccountRoutes(router: Router, context: DashboardContext): void {
  const { db } = context;
  addPage(router, {
    path: PATHS.account,
    async show(request, signed) {
      const { id } = signed.user;
      const [sessions, passkeys] = [await listSessions(db, id), await listPasskeys(db, id)];
      const props = { sessions, passkeys, now: context.now() };
      return <AccountPage signed={signed} messages={messagesOf(request)} {...props} />;
    },
  });
  addAction(router, '/ui/account/end-sessions', EVERYONE, async (request, { caller, user }, response) => {
    const answer = await (await context.auth()).api.signOut(asSession(request));
    copyCookies(answer.headers, response);
    await deleteSessions(db, user.id);
    await recordAction(db, { ...caller, action: 'session.end-all', target: user.email });
    return `${SIGN_IN}?reason=everywhere`;
  });
  addAction(router, '/ui/account/organization', EVERYONE, async (request, { memberships }) => {
    const organizationId = fieldOf(request, 'organization');
    if (!memberships.some((each) => each.organizationId === organizationId)) {
      throw new HttpError(404, 'You are in no such organization');
    }
    await (await context.auth()).api.setActiveOrganization({ body: { organizationId }, headers: authHeaders(request) });
    return PATHS.overview;
  });
  addCredentialRoutes(router, context);
}

function addCredentialRoutes(router: Router, context: DashboardContext): void {
  const { db } = context;
  addAction(router, '/ui/account/password', EVERYONE, async (request, { user }, response) => {
    const attempt = { email: user.email, address: request.ip ?? '' };
    // A stolen session must not be a way to guess the password.
    const waitSeconds = await takeSignInAttempt(db, attempt);
    if (waitSeconds > 0) throw new HttpError(429, `Too many attempts: try again in ${waitSeconds} seconds`);
    const newPassword = fieldOf(request, 'new');
    if (newPassword.length < MIN_PASSWORD || newPassword.length > 200) {
      throw new HttpError(400, `The new password: expected ${MIN_PASSWORD} to 200 characters`);
    }
    const body = { currentPassword: fieldOf(request, 'current'), newPassword, revokeOtherSessions: true };
    const answer = await (await context.auth()).api.changePassword({ body, ...asSession(request) });
    if (!answer.ok) throw new HttpError(400, 'The current password is wrong');
    await forgetSignInAttempts(db, attempt);
    copyCookies(answer.headers, response);
    return withMessage(PATHS.account, 'password-changed');
  });
  addAction(router, '/ui/account/passkeys/:id/remove', EVERYONE, async (request, { user }) => {
    const own = await listPasskeys(db, user.id);
    const found = own.find(({ id }) => id === request.params.id);
    if (found === undefined) throw new HttpError(404, 'There is no such passkey');
    await (await context.auth()).api.deletePasskey({ body: { id: found.id }, headers: authHeaders(request) });
    return withMessage(PATHS.account, 'passkey-removed');
  });
}

type AccountProps = Pick<MemberLayoutProps, 'signed' | 'messages'> & {
  sessions: Awaited<ReturnType<typeof listSessions>>;
  passkeys: Awaited<ReturnType<typeof listPasskeys>>;
  now: Date;
};

function AccountPage({ signed, sessions, passkeys, now, ...layout }: AccountProps) {
  const { user, csrf, memberships, membership } = signed;
  const options = memberships.map(({ organizationId, organization }) => ({
    value: organizationId,
    label: organization,
  }));
  return (
    <MemberLayout {...layout} signed={signed} section="account" title="Your account">
      <h1>
        <Text>{user.name}</Text>
      </h1>
      <p class="soft">
        <Text>{user.email}</Text>
      </p>
      {memberships.length > 1 && (
        <Panel title="Organization">
          <Form action="/ui/account/organization" csrf={csrf} inline>
            <Select label="Work in" name="organization" value={membership.organizationId} options={options} />
            <Button>Switch</Button>
          </Form>
        </Panel>
      )}
      <div class="columns">
        <PasswordPanel csrf={csrf} />
        <PasskeysPanel csrf={csrf} passkeys={passkeys} now={now} />
      </div>
      <Panel
        title="Sessions"
        aside={
          <ActionButton action="/ui/account/end-sessions" csrf={csrf} variant="danger">
            Sign out everywhere
          </ActionButton>
        }
      >
        <Table
          caption="Sessions"
          rows={sessions}
          keyOf={({ id }) => id}
          columns={[
            {
              label: 'Browser',
              kind: 'main',
              cell: ({ userAgent }) => <Text>{userAgent?.slice(0, 200) ?? 'unknown'}</Text>,
            },
            { label: 'Address', cell: ({ ipAddress }) => ipAddress ?? 'unknown' },
            { label: 'Signed in', cell: ({ createdAt }) => <RelativeTime at={createdAt} now={now} /> },
            { label: 'This one', cell: ({ id }) => (id === signed.sessionId ? 'yes' : '') },
          ]}
        />
      </Panel>
    </MemberLayout>
  );
}

function PasswordPanel({ csrf }: { csrf: string }) {
  return (
    <Panel title="Password">
      <Form action="/ui/account/password" csrf={csrf}>
        <Field label="Current password" name="current" type="password" autocomplete="current-password" required />
        <NewPassword label="New password" name="new" then="Your other sessions end." />
        <Button>Change the password</Button>
      </Form>
    </Panel>
  );
}

function PasskeysPanel({ csrf, passkeys, now }: { csrf: string; passkeys: AccountProps['passkeys']; now: Date }) {
  return (
    <Panel title="Passkeys">
      {passkeys.length === 0 && <p class="soft">Sign in without a password: with a fingerprint, a face or a PIN.</p>}
      <ul class="plain">
        {passkeys.map(({ id, name, createdAt }) => (
          <li key={id} class="title-line">
            <Text>{name ?? 'Passkey'}</Text> <RelativeTime at={createdAt} now={now} />
            <ActionButton action={`/ui/account/passkeys/${encodeURIComponent(id)}/remove`} csrf={csrf}>
              Remove
            </ActionButton>
          </li>
        ))}
      </ul>
      <PasskeyActions action="add" label="Add a passkey" />
    </Panel>
  );
}
