import type { Request, Response } from 'express';

/** One for each pull request: the cookie's path is its page. */
const NAME = 'galley_review';

/** As long as somebody reads; after that the link in the mail opens the page again. */
const LONGEST_MS = 12 * 3_600_000;

/**
 * Keeps a reviewer's token for the page at this address, so that the address bar, which people copy, is without it. It
 * shows the page its reviewer; what changes something is sent with the token in the form.
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
    // Not "strict": the way here began in a mail program, which may be another site.
    sameSite: 'lax',
    secure: protocol === 'https:',
    maxAge: Math.min(LONGEST_MS, at.expiresAt.getTime() - at.now.getTime()),
  });
}

export function keptReviewToken(request: Request): string | undefined {
  const cookies = (request.headers.cookie ?? '').split(';').map((each) => each.trim());
  return cookies.find((each) => each.startsWith(`${NAME}=`))?.slice(NAME.length + 1);
}
