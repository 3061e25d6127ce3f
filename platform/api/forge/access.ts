import type { Request } from 'express';
import { HttpError } from '../../../contract/http-error.ts';
import { API_KEY_PREFIX } from '../../admin/api-key-text.ts';
import { FORGE_OPERATOR, PULL_REQUEST_ID } from '../../forge/forge-context.ts';
import { isReviewToken, readReviewToken } from '../../forge/review-links.ts';
import type { Database } from '../../store/database.ts';
import { getPullRequest } from '../../store/pull-requests.ts';
import { authenticate, readBearerToken } from '../authenticate.ts';
import { createTokenCheck } from '../operator.ts';

/** Who acts: the operator, under any name, or the reviewer of a link. */
type Actor = { kind: 'operator' | 'reviewer'; name: string };

export type ForgeAccess = {
  /** Reading needs only the link. But a token that is sent must be valid, so that a wrong one is found early. */
  allowReading(request: Request): Promise<void>;
  /**
   * Reviewing, merging and closing: the operator, or a reviewer of this pull request. `formToken` comes from a page's
   * form; a header takes precedence. Cookies don't count, because another site can make a browser send them.
   */
  allowReviewing(request: Request, formToken: string | undefined): Promise<Actor>;
  /** Actions that only the operator may take. */
  allowOperating(request: Request, formToken: string | undefined): Promise<void>;
};

type AccessDeps = { db: Database; operatorToken: string | undefined; now(): Date };

/**
 * Authorizes actions on pull requests. Throws an `HttpError`: 401 (no or wrong token), 403 (an Admin API key, or a
 * reviewer's link of another pull request), 410 (a reviewer's link that has ended).
 */
export function createForgeAccess({ db, operatorToken, now }: AccessDeps): ForgeAccess {
  const isOperator = operatorToken === undefined ? () => false : createTokenCheck(operatorToken);

  async function actorOf(request: Request, token: string): Promise<Actor> {
    if (isOperator(token)) return { kind: 'operator', name: FORGE_OPERATOR };
    if (isReviewToken(token)) return { kind: 'reviewer', name: await reviewerOf(request, token) };
    if (token.startsWith(API_KEY_PREFIX) && readBearerToken(request) === token) {
      await authenticate(db, request);
      throw new HttpError(403, 'An admin API key is not accepted here: use the operator token');
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
        throw new HttpError(403, "A reviewer's link is not accepted here: use the operator token");
    },
  };
}

function refusal(message: string): HttpError {
  return new HttpError(401, message, { 'WWW-Authenticate': 'Bearer' });
}
