import { createHmac } from 'node:crypto';
import { fromNodeHeaders } from 'better-auth/node';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { z } from 'zod';
import { checkCsrf, createSignedRequests, redirectToSignIn, sameOriginOnly } from '../../web/access.ts';
import { clientAddress } from '../../web/client-address.ts';
import { HttpError } from '../../web/http-error.ts';
import type { Caller } from '../store/api-keys.ts';
import { findPendingInvitation, listMemberships, type Membership, type Role } from '../store/members.ts';
import { authSecret, CLIENT_HEADER } from './auth-settings.ts';
import type { DashboardContext } from './dashboard-context.ts';
import type { SitesPage } from './sites-page.tsx';

export function invitationPath(id: string): string {
  return `/ui/invitations/${encodeURIComponent(id)}`;
}

/** Someone who has signed in. */
export type MemberSession = {
  user: { id: string; name: string; email: string };
  sessionId: string;
  /** When the person last proved who they are: at the sign-in, or by the password after it. */
  provedAt: Date;
  /** A secret of the session that its forms carry. A member's forms are for one organization: `organizationCsrf`. */
  csrf: string;
};

/** A signed-in member, acting for one of their organizations. */
export type SignedMember = MemberSession & {
  membership: Membership;
  /** All of the user's organizations. */
  memberships: readonly Membership[];
  /** The sites page of the same `galley up`, if they may open it. */
  sites: Pick<SitesPage, 'siteOf' | 'changeOf' | 'temporal'> | undefined;
  caller: Caller;
};

/** The headers for Better Auth, with the client's address. A client can't choose the address by a header. */
export function authHeaders(request: Request): Headers {
  const headers = fromNodeHeaders(request.headers);
  headers.set(CLIENT_HEADER, clientAddress(request));
  return headers;
}

/** The options of a call of Better Auth for the request's session. */
export function asSession(request: Request) {
  return { headers: authHeaders(request), asResponse: true } as const;
}

const refusal = z.object({ message: z.string() }).catch({ message: 'not possible now' });

/** Throws an `HttpError` with Better Auth's reason unless a call succeeded. */
export async function succeed(answer: globalThis.Response, status: number, failure: string): Promise<void> {
  if (answer.ok) return;
  const { message } = refusal.parse(await answer.json());
  throw new HttpError(answer.status >= 500 ? 503 : status, `${failure}: ${message}`);
}

/** Copies the cookies that Better Auth set. */
export function copyCookies(from: Headers, response: Response): void {
  for (const cookie of from.getSetCookie()) response.append('Set-Cookie', cookie);
}

/** A request's session; undefined without a valid one. Renews the cookie if a response is given. */
export async function findSession(
  context: DashboardContext,
  request: Request,
  response?: Response,
): Promise<(MemberSession & { activeOrganizationId: string | null }) | undefined> {
  // Without a cookie there is no session to look for.
  if (request.headers.cookie === undefined) return undefined;
  const { headers, response: found } = await (await context.auth()).api.getSession({
    headers: authHeaders(request),
    returnHeaders: true,
  });
  if (response !== undefined) copyCookies(headers, response);
  if (!found) return undefined;
  const { session, user } = found;
  return {
    user: { id: user.id, name: user.name, email: user.email },
    sessionId: session.id,
    provedAt: session.createdAt,
    csrf: secretOf(context, `csrf ${session.token}`),
    activeOrganizationId: session.activeOrganizationId ?? null,
  };
}

/** The member of a request's session; undefined without a session. Someone may be in no organization any more. */
export async function findSigned(
  context: DashboardContext,
  request: Request,
  response?: Response,
): Promise<SignedMember | { user: MemberSession['user']; membership: undefined } | undefined> {
  const found = await findSession(context, request, response);
  if (found === undefined) return undefined;
  const { activeOrganizationId, ...session } = found;
  const { user } = session;
  const memberships = await listMemberships(context.db, user.id);
  const active = memberships.find(({ organizationId }) => organizationId === activeOrganizationId);
  const membership = active ?? memberships[0];
  if (membership === undefined) return { user, membership };
  const { organizationId, plan, role } = membership;
  return {
    ...session,
    ...{ membership, memberships },
    sites: role === 'owner' && organizationId === context.sitesPage?.organizationId() ? context.sitesPage : undefined,
    csrf: organizationCsrf(context, session, organizationId),
    caller: { organizationId, plan, actor: { kind: 'member', id: user.id, name: user.email } },
  };
}

/** Binds a form to its organization, in case another tab chooses a different one after the page is loaded. */
export function organizationCsrf(
  context: DashboardContext,
  { csrf }: Pick<MemberSession, 'csrf'>,
  organizationId: string,
): string {
  return secretOf(context, `csrf ${csrf} of ${organizationId}`);
}

export function secretOf({ operatorToken }: DashboardContext, text: string): string {
  return createHmac('sha256', authSecret(operatorToken)).update(text).digest('base64url');
}

const INVALID_FORM =
  'The form is no longer valid, for example because you switched organizations: go back, reload the page and try again';

const { keep, signedOf, requireCsrf } = createSignedRequests<SignedMember>(INVALID_FORM);

/** `signedOf` needs `requireMember` before it. */
export { signedOf };

/** Leads to the sign-in without a session. */
export function requireMember(context: DashboardContext): RequestHandler {
  return async (request, response, next) => {
    const found = await findSigned(context, request, response);
    if (found?.membership === undefined && found !== undefined) {
      const invitation = await findPendingInvitation(context.db, { email: found.user.email });
      if (invitation === undefined) {
        throw new HttpError(403, 'You are in no organization: ask an owner for an invitation');
      }
      response.redirect(303, invitationPath(invitation.id));
      return;
    }
    if (found === undefined) {
      redirectToSignIn(request, response);
      return;
    }
    keep(request, found);
    next();
  };
}

/** Throws 403 unless the form that was read has this token. */
export function checkFormCsrf(request: Request, { csrf }: Pick<SignedMember, 'csrf'>): void {
  checkCsrf(request, csrf, INVALID_FORM);
}

/** Lets only members with one of these roles through. */
export function requireRole(...roles: readonly Role[]): RequestHandler {
  return (request, _response, next) => {
    const { role } = signedOf(request).membership;
    if (!roles.includes(role)) throw new HttpError(403, `This needs the role ${roles.join(' or ')}; yours is ${role}`);
    next();
  };
}

/** A prompt of 100,000 characters is up to 900 kB as a form. */
const readForm: RequestHandler = express.urlencoded({ extended: false, limit: '1mb', parameterLimit: 40 });

/** What comes before each form's action. */
export const FORM: readonly RequestHandler[] = [sameOriginOnly, readForm, requireCsrf];
