import { randomUUID } from 'node:crypto';
import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { sameOriginOnly } from '../../web/access.ts';
import { HttpError } from '../../web/http-error.ts';
import { fieldOf, queryOf, readForm } from '../../web/request.ts';
import { sendPage } from '../../web/send-page.ts';
import { label } from '../admin/text.ts';
import { addRoute } from '../api/add-route.ts';
import { recordAction } from '../store/audit-log.ts';
import {
  findPendingInvitation,
  findUserByEmail,
  hasMembers,
  type InvitationRow,
  insertMember,
  insertSetupLink,
  isSetupLink,
  takeSetupLink,
} from '../store/members.ts';
import { ensureOrganization, listOrganizations, updateOrganization } from '../store/organizations.ts';
import {
  asSession,
  authHeaders,
  checkFormCsrf,
  copyCookies,
  findSession,
  type MemberSession,
  succeed,
} from './access.ts';
import { MAX_NAME, MIN_PASSWORD } from './auth-settings.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { keepDevice } from './device-cookie.ts';
import { withMessage } from './done-messages.ts';
import { hashSetupSecret, SETUP } from './first-administrator.ts';
import { InvitationPage, SetupPage } from './sign-in-pages.tsx';

const password = z
  .string()
  .min(MIN_PASSWORD, `Expected at least ${MIN_PASSWORD} characters`)
  .max(200, 'Expected at most 200 characters');
const personName = label.max(MAX_NAME, `Expected at most ${MAX_NAME} characters`);
const newUser = z.object({ name: personName, password });
const firstAdministrator = newUser.extend({
  email: z.email('Expected an email such as ada@example.com').max(254),
  organization: label,
});

/** The links with which people join: the first administrator's, and invitations. */
export function addJoinRoutes(router: Router, context: DashboardContext): void {
  addRoute(router, SETUP, {
    get: async (request, response) => {
      const link = queryOf(request, 'link');
      await requireSetupLink(context, link);
      const [first] = await listOrganizations(context.db);
      await sendPage(request, response, <SetupPage link={link} organization={first?.name ?? ''} />);
    },
    post: [sameOriginOnly, readForm, (request, response) => setUp(context, request, response)],
  });
  addRoute(router, '/ui/invitations/:id', {
    get: async (request, response) => {
      const { session, ...shown } = await openInvitation(context, request, response);
      const page = <InvitationPage {...shown} csrf={session?.csrf} hasOpenId={context.openId !== undefined} />;
      await sendPage(request, response, page);
    },
    post: [sameOriginOnly, readForm, (request, response) => join(context, request, response)],
  });
}

async function requireSetupLink({ db }: DashboardContext, link: string): Promise<void> {
  if (!(await isSetupLink(db, hashSetupSecret(link))) || (await hasMembers(db))) throw linkEnded();
}

function linkEnded(): HttpError {
  return new HttpError(410, 'This link was used or has expired: a restart of the platform prints a new one');
}

async function setUp(context: DashboardContext, request: Request, response: Response): Promise<void> {
  const { db, admitted } = context;
  const link = fieldOf(request, 'link');
  await requireSetupLink(context, link);
  const fields = ['name', 'password', 'email', 'organization'].map((name) => [name, fieldOf(request, name)]);
  const entered: Record<string, string> = Object.fromEntries(fields);
  const parsed = firstAdministrator.safeParse(entered);
  if (!parsed.success) {
    const errors = z.flattenError(parsed.error).fieldErrors;
    const page = (
      <SetupPage
        link={link}
        organization={entered.organization ?? ''}
        email={entered.email ?? ''}
        name={entered.name ?? ''}
        emailError={errors.email?.[0]}
        nameError={errors.name?.[0]}
        organizationError={errors.organization?.[0]}
        passwordError={errors.password?.[0]}
      />
    );
    return sendPage(request, response, page, 400);
  }
  const sha256 = hashSetupSecret(link);
  if (!(await takeSetupLink(db, sha256))) throw linkEnded();
  const { name, organization } = parsed.data;
  const email = parsed.data.email.toLowerCase();
  admitted.add(email);
  try {
    const answer = await signUp(context, request, { name, email, password: parsed.data.password });
    const user = await findUserByEmail(db, email);
    if (user === undefined) throw new HttpError(500, 'The account was not created');
    const organizationId = await nameOrganization(db, organization);
    await insertMember(db, { id: randomUUID(), organizationId, userId: user.id, role: 'owner' });
    const actor = { kind: 'operator' as const, id: 'setup-link', name: 'setup link' };
    await recordAction(db, { organizationId, actor, action: 'member.join', target: email, detail: 'owner' });
    copyCookies(answer.headers, response);
    keepDevice(context, response, email);
  } catch (error) {
    // The link works again: the account may not have been created.
    await insertSetupLink(db, { sha256, expiresAt: new Date(Date.now() + 3_600_000) });
    throw error;
  } finally {
    admitted.delete(email);
  }
  response.redirect(303, withMessage('/', 'welcome'));
}

/**
 * The organization that the first owner gets: the one of this name, otherwise the first, which is renamed. A second one
 * would hide what the first has.
 */
async function nameOrganization(db: DashboardContext['db'], name: string): Promise<string> {
  const known = await listOrganizations(db);
  const [first] = known;
  if (first === undefined || known.some((each) => each.name === name)) {
    return (await ensureOrganization(db, { name, plan: 'enterprise' })).id;
  }
  await updateOrganization(db, first.name, { name });
  return first.id;
}

async function signUp(
  context: DashboardContext,
  request: Request,
  body: { name: string; email: string; password: string },
): Promise<globalThis.Response> {
  const answer = await (await context.auth()).api.signUpEmail({ body, ...asSession(request) });
  await succeed(answer, 400, 'The account could not be created');
  return answer;
}

type Opened = { invitation: InvitationRow; session: MemberSession | undefined; isKnown: boolean };

/** The invitation of the path, and the session if it is the invited person's. Throws 404. */
async function openInvitation(context: DashboardContext, request: Request, response: Response): Promise<Opened> {
  const { id } = request.params;
  const isId = typeof id === 'string' && /^[\w-]{16,64}$/.test(id);
  const invitation = isId ? await findPendingInvitation(context.db, { id }) : undefined;
  if (invitation === undefined) {
    throw new HttpError(404, 'This invitation was used, canceled or has expired: ask for a new one');
  }
  // A person may have an account and no organization: one who was removed, or came by single sign-on.
  const found = await findSession(context, request, response);
  const isSame = found?.user.email.toLowerCase() === invitation.email.toLowerCase();
  const isKnown = (await findUserByEmail(context.db, invitation.email)) !== undefined;
  return { invitation, session: isSame ? found : undefined, isKnown };
}

/** Accepts as the signed-in person, or signs up first. */
async function join(context: DashboardContext, request: Request, response: Response): Promise<void> {
  const { invitation, session, isKnown } = await openInvitation(context, request, response);
  let headers = authHeaders(request);
  if (session !== undefined) {
    checkFormCsrf(request, session);
  } else {
    if (isKnown) throw new HttpError(403, 'There is an account with this email: sign in to accept');
    const parsed = newUser.safeParse({ name: fieldOf(request, 'name'), password: fieldOf(request, 'password') });
    if (!parsed.success) {
      const errors = z.flattenError(parsed.error).fieldErrors;
      const problems = { nameError: errors.name?.[0], passwordError: errors.password?.[0] };
      const hasOpenId = context.openId !== undefined;
      const form = { invitation, isKnown, hasOpenId, csrf: undefined, name: fieldOf(request, 'name') };
      return sendPage(request, response, <InvitationPage {...form} {...problems} />, 400);
    }
    const answer = await signUp(context, request, { ...parsed.data, email: invitation.email });
    copyCookies(answer.headers, response);
    keepDevice(context, response, invitation.email);
    headers = withCookies(headers, answer.headers);
  }
  const accepted = await (await context.auth()).api.acceptInvitation({
    body: { invitationId: invitation.id },
    headers,
    asResponse: true,
  });
  if (!accepted.ok) throw new HttpError(409, 'The invitation could not be accepted: ask for a new one');
  const { organizationId, email, role } = invitation;
  const actor = { kind: 'member' as const, id: session?.user.id ?? email, name: email };
  await recordAction(context.db, { organizationId, actor, action: 'member.join', target: email, detail: role ?? '' });
  response.redirect(303, withMessage('/', 'welcome'));
}

/** The request's headers with the cookies that were just set. */
function withCookies(headers: Headers, set: Headers): Headers {
  const merged = new Headers(headers);
  merged.set(
    'cookie',
    set
      .getSetCookie()
      .map((cookie) => cookie.split(';', 1)[0])
      .join('; '),
  );
  return merged;
}
