import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request, RequestHandler, Response } from 'express';
import { equalInConstantTime } from '../../base/equal-in-constant-time.ts';
import { CSRF_FIELD } from '../../ui/components/form.tsx';
import { fieldOf, isSameOrigin } from '../../ui/request.ts';
import { HttpError } from '../../web/http-error.ts';
import type { Session, Sessions } from './session.ts';

/** The page to sign in. `to`: where to go then. */
export const SIGN_IN = '/ui/sign-in';

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
export function sessionOf(request: Request, sessions: Sessions | undefined): Session | undefined {
  const value = parseCookie(request.get('cookie') ?? '')[COOKIE];
  return value === undefined ? undefined : sessions?.open(value);
}

/** The session that `requireSession` found. */
export type Signed = { session: Session; csrf: string };

const signed = new WeakMap<Request, Signed>();

/** Of a request that passed `requireSession`. */
export function signedOf(request: Request): Signed {
  const found = signed.get(request);
  if (found === undefined) throw new HttpError(401, 'your session has ended: please sign in again');
  return found;
}

/** Leads to the sign-in without a session, and renews the session's cookie. */
export function requireSession(sessions: Sessions | undefined): RequestHandler {
  return (request, response, next) => {
    const session = sessionOf(request, sessions);
    if (session === undefined || sessions === undefined) {
      // What a form would do is lost; its page is a good place to return to only for GET.
      const to = request.method === 'GET' ? `?to=${encodeURIComponent(request.originalUrl)}` : '';
      response.redirect(303, `${SIGN_IN}${to}`);
      return;
    }
    const renewed = sessions.renew(session);
    if (renewed !== undefined) setSession(request, response, sessions.seal(renewed));
    signed.set(request, { session, csrf: sessions.csrfOf(session) });
    next();
  };
}

/** Rejects forms that another site's page sends. */
export const sameOriginOnly: RequestHandler = (request, _response, next) => {
  if (!isSameOrigin(request)) throw new HttpError(403, 'the form was sent by a page of another site');
  next();
};

/** Rejects a form without the session's CSRF token. Needs `requireSession` and `readForm` before it. */
export const requireCsrf: RequestHandler = (request, _response, next) => {
  if (!equalInConstantTime(fieldOf(request, CSRF_FIELD), signedOf(request).csrf)) {
    throw new HttpError(403, 'the form is no longer valid: please go back, reload the page and try again');
  }
  next();
};

/** A path of these pages to return to; the list of sites for anything else. */
export function localPath(to: string): string {
  return /^\/(?:ui\/(?!sign)[\w/?&=%.:~+-]*|\?[\w&=%.~+-]*)?$/.test(to) ? to : '/';
}
