import type { Request, Response } from 'express';

/** One per pull request: the cookie's path is its page. */
const NAME = 'galley_review';

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
  const { pathname, protocol } = new URL(at.page);
  response.cookie(NAME, token, {
    path: pathname,
    httpOnly: true,
    // Not "strict", because the navigation begins in a mail program, which may be another site.
    sameSite: 'lax',
    secure: protocol === 'https:',
    maxAge: Math.min(LONGEST_MS, at.expiresAt.getTime() - at.now.getTime()),
  });
}

export function keptReviewToken(request: Request): string | undefined {
  const cookies = (request.headers.cookie ?? '').split(';').map((each) => each.trim());
  return cookies.find((each) => each.startsWith(`${NAME}=`))?.slice(NAME.length + 1);
}
