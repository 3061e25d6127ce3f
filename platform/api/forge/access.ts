import type { Request } from 'express';
import { equalInConstantTime } from '../../../base/equal-in-constant-time.ts';
import { checkCsrf, checkSameOrigin } from '../../../web/access.ts';
import { readBearerToken } from '../../../web/bearer-token.ts';
import { HttpError } from '../../../web/http-error.ts';
import { API_KEY_PREFIX } from '../../admin/api-key-text.ts';
import { FORGE_OPERATOR, PULL_REQUEST_ID } from '../../forge/forge-context.ts';
import { isReviewToken, readReviewToken } from '../../forge/review-links.ts';
import type { Database } from '../../store/database.ts';
import { getPullRequest, type PullRequestRow } from '../../store/pull-requests.ts';
import { authenticate } from '../authenticate.ts';

/** Who acts: the operator, under any name; the reviewer of a link; or a signed-in member who may review. */
export type ForgeActor = { kind: 'operator' | 'reviewer' | 'member'; name: string };

/** What a form sent to authorize its action. */
type FormAccess = { formToken: string | undefined; formCsrf?: string | undefined };

/** How members of the dashboard act here. */
export type MemberAccess = {
  /** The member whose session may decide about the pull request, for its page; undefined if there is none. */
  findReviewer(request: Request, row: PullRequestRow): Promise<{ name: string; csrf: string } | undefined>;
};

export type ForgeAccess = {
  /** Reading needs only the link. But a token that is sent must be valid, so that a wrong one is found early. */
  allowReading(request: Request): Promise<void>;
  /**
   * Reviewing, merging and closing: the operator, or a reviewer of this pull request. `formToken` comes from a page's
   * form; a header takes precedence. A member's cookie counts only with the CSRF token of the same session.
   */
  allowReviewing(request: Request, sent: FormAccess): Promise<ForgeActor>;
  /** Actions that only the operator may take. */
  allowOperating(request: Request, sent: FormAccess): Promise<void>;
};

type AccessDeps = { db: Database; operatorToken: string | undefined; members: MemberAccess | undefined; now(): Date };

/**
 * Authorizes actions on pull requests. Throws an `HttpError`: 401 (no or wrong token), 403 (an Admin API key, or a
 * reviewer's link of another pull request), 410 (a reviewer's link that has ended).
 */
export function createForgeAccess({ db, operatorToken, members, now }: AccessDeps): ForgeAccess {
  async function actorOf(request: Request, token: string): Promise<ForgeActor> {
    if (operatorToken !== undefined && equalInConstantTime(token, operatorToken))
      return { kind: 'operator', name: FORGE_OPERATOR };
    if (isReviewToken(token)) return { kind: 'reviewer', name: await reviewerOf(request, token) };
    if (token.startsWith(API_KEY_PREFIX) && readBearerToken(request) === token) {
      await authenticate(db, request);
      throw new HttpError(403, 'An admin API key is not accepted here: use the operator token');
    }
    throw refusal('The operator token is wrong');
  }

  async function pullRequestOf(request: Request): Promise<PullRequestRow> {
    const id = String(request.params.id);
    const row = PULL_REQUEST_ID.test(id) ? await getPullRequest(db, id) : undefined;
    if (row === undefined) throw new HttpError(404, 'There is no such pull request');
    return row;
  }

  async function reviewerOf(request: Request, token: string): Promise<string> {
    return readReviewToken(await pullRequestOf(request), token, now()).reviewer;
  }

  async function memberOf(request: Request): Promise<ForgeActor> {
    checkSameOrigin(request);
    const found = await members?.findReviewer(request, await pullRequestOf(request));
    if (found === undefined) throw refusal('Your session has ended, or your role may not review: sign in again');
    checkCsrf(request, found.csrf, 'The form is no longer valid: reload the page and try again');
    return { kind: 'member', name: found.name };
  }

  async function allowReviewing(request: Request, { formToken, formCsrf }: FormAccess): Promise<ForgeActor> {
    const token = readBearerToken(request) ?? formToken;
    if (token === undefined && formCsrf !== undefined) return await memberOf(request);
    if (token === undefined || token === '') throw refusal('The operator token is required');
    return await actorOf(request, token);
  }

  return {
    async allowReading(request) {
      const token = readBearerToken(request);
      if (token !== undefined) await actorOf(request, token);
    },
    allowReviewing,
    async allowOperating(request, sent) {
      const { kind } = await allowReviewing(request, sent);
      if (kind !== 'operator')
        throw new HttpError(403, "A reviewer's link is not accepted here: use the operator token");
    },
  };
}

function refusal(message: string): HttpError {
  return new HttpError(401, message, { 'WWW-Authenticate': 'Bearer' });
}
