import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, RequestHandler, Response } from 'express';
import { createSignedRequests, redirectToSignIn } from '../../web/access.ts';
import type { PagesDeps } from './pages-deps.ts';
import type { OperatorSession, Sessions } from './session.ts';

const COOKIE = 'galley_session';

/** Over HTTPS a `__Host-` name, which pages of other hosts of the domain can't set. */
function cookieOf(request: Request): { name: string; secure: boolean } {
  // A proxy may end TLS. A client that lies about it only restricts its own cookie.
  const secure = request.secure || request.get('x-forwarded-proto') === 'https';
  return { name: secure ? `__Host-${COOKIE}` : COOKIE, secure };
}

/** Sets the cookie of a session; undefined removes it. */
export function setSession(request: Request, response: Response, value: string | undefined): void {
  const cookie = stringifySetCookie({
    ...cookieOf(request),
    value: value ?? '',
    httpOnly: true,
    sameSite: 'strict',
    path: '/',
    ...(value === undefined && { maxAge: 0 }),
  });
  response.append('Set-Cookie', cookie);
}

/** The session of a request, if it has one. */
export function sessionOf(request: Request, sessions: Sessions | undefined): OperatorSession | undefined {
  const value = parseCookie(request.get('cookie') ?? '')[cookieOf(request).name];
  return value === undefined ? undefined : sessions?.open(value);
}

/** The session that `requireOperator` found. */
export type SignedOperator = {
  session: OperatorSession;
  csrf: string;
  /** Whether the dashboard of the same `galley up` can be opened. */
  dashboard: boolean;
  /** The URL of Temporal's UI, if known. */
  temporalUiUrl: string | undefined;
};

const { keep, signedOf, requireCsrf } = createSignedRequests<SignedOperator>(
  'The form is no longer valid: please go back, reload the page and try again',
);

/** Both need `requireOperator` before them, `requireCsrf` also `readForm`. */
export { requireCsrf, signedOf };

/** Leads to the sign-in without a session, and renews the session's cookie. */
export function requireOperator(
  sessions: Sessions | undefined,
  { dashboard, temporalUiUrl }: Pick<PagesDeps, 'dashboard' | 'temporalUiUrl'>,
): RequestHandler {
  return async (request, response, next) => {
    const session = sessionOf(request, sessions);
    const mayStay = session?.owner === undefined || (await dashboard?.isOwner(session.owner)) === true;
    if (session !== undefined && !mayStay) sessions?.end(session);
    if (session === undefined || sessions === undefined || !mayStay) {
      redirectToSignIn(request, response);
      return;
    }
    const renewed = sessions.renew(session);
    if (renewed !== undefined) setSession(request, response, sessions.seal(renewed));
    keep(request, { session, csrf: sessions.csrfOf(session), dashboard: dashboard !== undefined, temporalUiUrl });
    next();
  };
}
