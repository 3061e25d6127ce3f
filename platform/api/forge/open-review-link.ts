import type { Request, Response } from 'express';
import { pageOf } from '../../forge/forge-context.ts';
import { readReviewToken } from '../../forge/review-links.ts';
import { loadPullRequest } from './load-pull-request.ts';
import type { ReadContext } from './read-pull-request.ts';
import { keepReviewToken } from './review-cookie.ts';

/** Opens a reviewer's link: stores its token for the page and redirects there. Throws what `readReviewToken` does. */
export async function openReviewLink(context: ReadContext, request: Request, response: Response): Promise<void> {
  const row = await loadPullRequest(context, request);
  const { key } = request.query;
  const token = typeof key === 'string' ? key : '';
  const now = context.now();
  const { expiresAt } = readReviewToken(row, token, now);
  keepReviewToken(response, token, { page: pageOf(context, row), expiresAt, now });
  response.redirect(303, `../${row.id}`);
}
