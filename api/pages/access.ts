import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, RequestHandler, Response } from 'express';
import { checkCsrf, createSignedRequests, redirectToSignIn } from '../../web/access.ts';
import type { OperatorSession, Sessions } from './session.ts';

const COOKIE = 'galley_session';

/** Sets the cookie of a session; undefined removes it. */
export function setSession(request: Request, response: Response, value: string | undefined): void {
  const cookie = stringifySetCookie({
    name: COOKIE,
    value: value ?? '',
    httpOnly: true,
    sameSite: 'strict',
    // A proxy may end TLS. A client that lies about it only restricts its own cookie.
    secure: request.secure || request.get('x-forwarded-proto') === 'https',
    path: '/',
    ...(value === undefined && { maxAge: 0 }),
  });
  response.append('Set-Cookie', cookie);
}

/** The session of a request, if it has one. */
export function sessionOf(request: Request, sessions: Sessions | undefined): OperatorSession | undefined {
  const value = parseCookie(request.get('cookie') ?? '')[COOKIE];
  return value === undefined ? undefined : sessions?.open(value);
}

/** The session that `requireOperator` found. */
export type SignedOperator = { session: OperatorSession; csrf: string };

const { keep, signedOf } = createSignedRequests<SignedOperator>();

/** `signedOf` needs `requireOperator` before it. */
export { signedOf };

/** Leads to the sign-in without a session, and renews the session's cookie. */
export function requireOperator(sessions: Sessions | undefined): RequestHandler {
  return (request, response, next) => {
    const session = sessionOf(request, sessions);
    if (session === undefined || sessions === undefined) {
      redirectToSignIn(request, response);
      return;
    }
    const renewed = sessions.renew(session);
    if (renewed !== undefined) setSession(request, response, sessions.seal(renewed));
    keep(request, { session, csrf: sessions.csrfOf(session) });
    next();
  };
}

/** Rejects a form without the session's CSRF token. Needs `requireOperator` and `readForm` before it. */
export const requireCsrf: RequestHandler = (request, _response, next) => {
  const message = 'The form is no longer valid: please go back, reload the page and try again';
  checkCsrf(request, signedOf(request).csrf, message);
  next();
};
