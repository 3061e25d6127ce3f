import type { Request, RequestHandler, Response } from 'express';
import { equalInConstantTime } from '../base/equal-in-constant-time.ts';
import { CSRF_FIELD } from '../ui/components/form.tsx';
import { HttpError } from './http-error.ts';
import { fieldOf, isSameOrigin } from './request.ts';

/** The page to sign in. `to`: where to go then. */
export const SIGN_IN = '/ui/sign-in';

/** Leads a request without a session to the sign-in. */
export function redirectToSignIn(request: Request, response: Response): void {
  // What a form would do is lost; its page is a good place to return to only for GET.
  const to = request.method === 'GET' ? `?to=${encodeURIComponent(request.originalUrl)}` : '';
  response.redirect(303, `${SIGN_IN}${to}`);
}

/** A path to return to, whose page `pages` names by how its path begins; `/` for anything else. */
export function localPath(to: string, pages: RegExp): string {
  const isPage = pages.test(to) && /^[\w/?&=%.:~+-]*$/.test(to);
  return isPage || /^\/\?[\w&=%.~+-]*$/.test(to) ? to : '/';
}

/**
 * Keeps who has signed in, by request, while it is handled. `signedOf` throws 401 for a request without a session, and
 * `requireCsrf` 403 (`invalidForm`) for a form that was read and doesn't have the session's CSRF token.
 */
export function createSignedRequests<Signed extends { csrf: string }>(
  invalidForm: string,
): {
  keep: (request: Request, signed: Signed) => void;
  signedOf: (request: Request) => Signed;
  requireCsrf: RequestHandler;
} {
  const signed = new WeakMap<Request, Signed>();
  const signedOf = (request: Request): Signed => {
    const found = signed.get(request);
    if (found === undefined) throw new HttpError(401, 'Your session has ended: please sign in again');
    return found;
  };
  return {
    keep: (request, found) => void signed.set(request, found),
    signedOf,
    requireCsrf(request, _response, next) {
      checkCsrf(request, signedOf(request).csrf, invalidForm);
      next();
    },
  };
}

/** Throws 403 for a form that another site's page sent. */
export function checkSameOrigin(request: Request): void {
  if (!isSameOrigin(request)) throw new HttpError(403, 'The form was sent by a page of another site');
}

export const sameOriginOnly: RequestHandler = (request, _response, next) => {
  checkSameOrigin(request);
  next();
};

/** Throws 403 unless the form that was read has this CSRF token. */
export function checkCsrf(request: Request, csrf: string, message: string): void {
  if (!equalInConstantTime(fieldOf(request, CSRF_FIELD), csrf)) throw new HttpError(403, message);
}
