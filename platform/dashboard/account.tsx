import Bowser from 'bowser';
import type { Request, Response, Router } from 'express';
import { Button, ButtonLink, Field, Form, Select } from '../../ui/components/form.tsx';
import { Panel } from '../../ui/components/panel.tsx';
import { PasskeyActions } from '../../ui/components/passkey-actions.tsx';
import { Table } from '../../ui/components/table.tsx';
import { Text } from '../../ui/components/text.tsx';
import { RelativeTime } from '../../ui/components/time.tsx';
import { SIGN_IN } from '../../web/access.ts';
import { HttpError } from '../../web/http-error.ts';
import { fieldOf } from '../../web/request.ts';
import { recordAction } from '../store/audit-log.ts';
import {
  deleteResetLinks,
  deleteSessions,
  hasPassword,
  listPasskeys,
  listSessions,
  renewProof,
} from '../store/members.ts';
import { asSession, authHeaders, copyCookies, type SignedMember } from './access.ts';
import { FRESH_MS, MIN_PASSWORD } from './auth-settings.ts';
import { changePassword, isOwnPassword } from './check-password.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { messagesOf, withMessage } from './done-messages.ts';
import { ConfirmPage, MemberLayout, type MemberLayoutProps, PATHS, pathOf } from './layout.tsx';
import { addAction, addConfirmed, addPage, EVERYONE, type Show } from './pages.tsx';
import { NewPassword } from './sign-in-pages.tsx';

/** Longer than any browser's. */
const MAX_USER_AGENT = 512;

/** A member's own account: organization, password, passkeys and sessions. */
export function addAccountRoutes(router: Router, context: DashboardContext): void {
  const { db } = context;
  const show = async (request: Request, signed: SignedMember) => {
    const { id } = signed.user;
    const [sessions, passkeys] = [await listSessions(db, id), await listPasskeys(db, id)];
    const props = { sessions, passkeys, hasPassword: await hasPassword(db, id), now: context.now() };
    return <AccountPage signed={signed} messages={messagesOf(request)} {...props} />;
  };
  addPage(router, { path: PATHS.account, show });
  addConfirmed(router, '/ui/account/end-sessions', EVERYONE, {
    async show(_request, signed) {
      const asked = { question: 'Sign out everywhere?', confirmLabel: 'Sign out everywhere' };
      return (
        <ConfirmPage {...{ signed, section: 'account', ...asked }} action="/ui/account/end-sessions">
          <p>All your sessions end, also this one.</p>
        </ConfirmPage>
      );
    },
    async act(request, { caller, user }, response) {
      const answer = await (await context.auth()).api.signOut(asSession(request));
      copyCookies(answer.headers, response);
      await deleteSessions(db, user.id);
      await recordAction(db, { ...caller, action: 'session.end-all', target: user.email });
      return `${SIGN_IN}?reason=everywhere`;
    },
  });
  addAction(router, '/ui/account/organization', EVERYONE, async (request, { memberships }) => {
    const organizationId = fieldOf(request, 'organization');
    if (!memberships.some((each) => each.organizationId === organizationId)) {
      throw new HttpError(404, 'You are in no such organization');
    }
    await (await context.auth()).api.setActiveOrganization({ body: { organizationId }, headers: authHeaders(request) });
    return PATHS.overview;
  });
  addCredentialRoutes(router, context, show);
}

function addCredentialRoutes(router: Router, context: DashboardContext, show: Show): void {
  const { db } = context;
  const password = async (request: Request, { user }: SignedMember, response: Response) => {
    const newPassword = fieldOf(request, 'new');
    if (newPassword.length < MIN_PASSWORD || newPassword.length > 200) {
      throw new HttpError(400, `new: expected ${MIN_PASSWORD} to 200 characters`);
    }
    const passwords = { currentPassword: fieldOf(request, 'current').slice(0, 200), newPassword };
    const answer = await changePassword(context, request, { userId: user.id, ...passwords });
    if (answer === undefined) throw new HttpError(400, 'The current password is wrong');
    await deleteResetLinks(db, user.id);
    copyCookies(answer.headers, response);
    return withMessage(PATHS.account, 'password-changed');
  };
  addAction(router, '/ui/account/password', EVERYONE, password, show);
  const prove = async (request: Request, { user, sessionId }: SignedMember) => {
    const password = fieldOf(request, 'password').slice(0, 200);
    const isRight = await isOwnPassword(context, request, { userId: user.id, password });
    if (!isRight) throw new HttpError(400, 'The password is wrong');
    await renewProof(db, sessionId);
    return PATHS.account;
  };
  addAction(router, '/ui/account/prove', EVERYONE, prove, show);
  const passkeyOf = async ({ user }: SignedMember, { params }: Request) => {
    const found = (await listPasskeys(db, user.id)).find(({ id }) => id === params.id);
    if (found === undefined) throw new HttpError(404, 'There is no such passkey');
    return found;
  };
  addConfirmed(router, '/ui/account/passkeys/:id/remove', EVERYONE, {
    async show(request, signed) {
      const { id, name } = await passkeyOf(signed, request);
      const asked = { question: 'Remove this passkey?', confirmLabel: 'Remove the passkey' };
      return (
        <ConfirmPage {...{ signed, section: 'account', ...asked }} action={removalOf(id)}>
          <p>
            You can no longer sign in with <Text>{name ?? 'it'}</Text>. Make sure that you have another way.
          </p>
        </ConfirmPage>
      );
    },
    async act(request, signed) {
      const { id } = await passkeyOf(signed, request);
      await (await context.auth()).api.deletePasskey({ body: { id }, headers: authHeaders(request) });
      return withMessage(PATHS.account, 'passkey-removed');
    },
  });
}

const removalOf = (passkeyId: string) => pathOf('account', 'passkeys', passkeyId, 'remove');

type AccountProps = Pick<MemberLayoutProps, 'signed' | 'messages'> & {
  sessions: Awaited<ReturnType<typeof listSessions>>;
  passkeys: Awaited<ReturnType<typeof listPasskeys>>;
  hasPassword: boolean;
  now: Date;
};

function AccountPage({ sessions, passkeys, hasPassword, now, ...layout }: AccountProps) {
  const { signed } = layout;
  const { user, csrf, memberships, membership } = signed;
  const options = memberships.map(({ organizationId, organization }) => ({
    value: organizationId,
    label: organization,
  }));
  return (
    <MemberLayout {...layout} section="account" title="Your account">
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
        <PasskeysPanel signed={signed} passkeys={passkeys} hasPassword={hasPassword} now={now} />
      </div>
      <Panel
        title="Sessions"
        aside={
          <ButtonLink href="/ui/account/end-sessions" variant="danger">
            Sign out everywhere
          </ButtonLink>
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
              cell: ({ userAgent }) => <Text>{browserName(userAgent ?? '')}</Text>,
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

/** `Firefox on Linux`. Browsers name themselves, so anything may stand there. */
function browserName(userAgent: string): string {
  if (userAgent === '') return 'unknown';
  const { browser, os } = Bowser.parse(userAgent.slice(0, MAX_USER_AGENT));
  const names = [browser.name, os.name].filter((name) => name !== undefined && name !== '');
  return names.length === 0 ? 'another program' : names.join(' on ');
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

type PasskeysProps = Pick<AccountProps, 'signed' | 'passkeys' | 'hasPassword' | 'now'>;

function PasskeysPanel({ signed, passkeys, hasPassword, now }: PasskeysProps) {
  const { csrf, provedAt } = signed;
  const isFresh = now.getTime() - provedAt.getTime() < FRESH_MS;
  return (
    <Panel title="Passkeys">
      {passkeys.length === 0 && <p class="soft">Sign in without a password: with a fingerprint, a face or a PIN.</p>}
      <ul class="plain">
        {passkeys.map(({ id, name, createdAt }) => (
          <li key={id} class="title-line">
            <Text>{name ?? 'Passkey'}</Text> <RelativeTime at={createdAt} now={now} />
            <ButtonLink href={removalOf(id)} variant="danger" label={`Remove ${name ?? 'the passkey'}`}>
              Remove
            </ButtonLink>
          </li>
        ))}
      </ul>
      {isFresh && <PasskeyActions action="add" label="Add a passkey" />}
      {!isFresh && hasPassword && (
        <Form action="/ui/account/prove" csrf={csrf}>
          <Field
            label="Your password, to add a passkey"
            name="password"
            type="password"
            autocomplete="current-password"
            required
          />
          <Button>Continue</Button>
        </Form>
      )}
      {!isFresh && !hasPassword && <p class="soft">To add a passkey, sign out and sign in again.</p>}
    </Panel>
  );
}
