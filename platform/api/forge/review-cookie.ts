import { parseCookie } from 'cookie';
import type { Request, Response } from 'express';

/**
 * One per pull request: the cookie's path is its page, so its name can't begin with `__Host-`. Over HTTPS, `__Secure-`
 * keeps pages without it from setting the cookie.
 */
function nameFor(page: string): { name: string; secure: boolean } {
  const secure = page.startsWith('https:');
  return { name: secure ? '__Secure-galley_review' : 'galley_review', secure };
}

/** Long enough to read; after that the link in the mail opens the page again. */
const LONGEST_MS = 12 * 3_600_000;

/**
 * Stores a reviewer's token in a cookie, so that the address bar, which people copy, doesn't show it. The cookie only
 * shows the page; changes send the token in the form.
 */
export function keepReviewToken(
  response: Response,
  token: string,
  at: { page: string; expiresAt: Date; now: Date },
): void {
  const { name, secure } = nameFor(at.page);
  response.cookie(name, token, {
    path: new URL(at.page).pathname,
    httpOnly: true,
    // Not "strict", because the navigation begins in a mail program, which may be another site.
    sameSite: 'lax',
    secure,
    maxAge: Math.min(LONGEST_MS, at.expiresAt.getTime() - at.now.getTime()),
  });
}

/** @param page the URL of the pull request's page */
export function keptReviewToken(request: Request, page: string): string | undefined {
  return parseCookie(request.get('cookie') ?? '')[nameFor(page).name];
}
