import type { Request } from 'express';
import { HttpError } from '../../../contract/http-error.ts';
import { API_KEY_PREFIX } from '../../admin/api-keys.ts';
import { FORGE_OPERATOR, PULL_REQUEST_ID } from '../../forge/forge-context.ts';
import { isReviewToken, readReviewToken } from '../../forge/review-links.ts';
import type { Database } from '../../store/database.ts';
import { getPullRequest } from '../../store/pull-requests.ts';
import { authenticate, readBearerToken } from '../authenticate.ts';
import { createTokenCheck } from '../operator.ts';

/** Who acts: the operator, under whichever name a review is given, or the reviewer whom a link names. */
export type Actor = { kind: 'operator' | 'reviewer'; name: string };

export type ForgeAccess = {
  /** Reading needs only the link; but a token that is sent must be the right one, so that a wrong one is found early. */
  allowReading(request: Request): Promise<void>;
  /**
   * Reviewing, merging and closing: the operator, or a reviewer of this pull request. `formToken` is what a page's form
   * sent; a header counts before it. A cookie never counts: another site can make a browser send it.
   */
  allowReviewing(request: Request, formToken: string | undefined): Promise<Actor>;
  /** What only the operator may. */
  allowOperating(request: Request, formToken: string | undefined): Promise<void>;
};

type AccessDeps = { db: Database; operatorToken: string | undefined; now(): Date };

/**
 * Who may do what to pull requests. Throws an `HttpError`: 401 (no or wrong token), 403 (a key of the Admin API, a
 * reviewer's link of another pull request), 410 (a reviewer's link that has ended).
 */
export function createForgeAccess({ db, operatorToken, now }: AccessDeps): ForgeAccess {
  const isOperator = operatorToken === undefined ? () => false : createTokenCheck(operatorToken);

  async function actorOf(request: Request, token: string): Promise<Actor> {
    if (isOperator(token)) return { kind: 'operator', name: FORGE_OPERATOR };
    if (isReviewToken(token)) return { kind: 'reviewer', name: await reviewerOf(request, token) };
    if (token.startsWith(API_KEY_PREFIX) && readBearerToken(request) === token) {
      await authenticate(db, request);
      throw new HttpError(403, 'An admin API key is of no use here: this needs the operator token');
    }
    throw refusal('The operator token is wrong');
  }

  async function reviewerOf(request: Request, token: string): Promise<string> {
    const id = String(request.params.id);
    const row = PULL_REQUEST_ID.test(id) ? await getPullRequest(db, id) : undefined;
    if (row === undefined) throw new HttpError(404, 'There is no such pull request');
    return readReviewToken(row, token, now()).reviewer;
  }

  async function allowReviewing(request: Request, formToken: string | undefined): Promise<Actor> {
    const token = readBearerToken(request) ?? formToken;
    if (token === undefined || token === '') throw refusal('The operator token is required');
    return await actorOf(request, token);
  }

  return {
    async allowReading(request) {
      const token = readBearerToken(request);
      if (token !== undefined) await actorOf(request, token);
    },
    allowReviewing,
    async allowOperating(request, formToken) {
      const { kind } = await allowReviewing(request, formToken);
      if (kind !== 'operator')
        throw new HttpError(403, "A reviewer's link is of no use here: this needs the operator token");
    },
  };
}

function refusal(message: string): HttpError {
  return new HttpError(401, message, { 'WWW-Authenticate': 'Bearer' });
}
