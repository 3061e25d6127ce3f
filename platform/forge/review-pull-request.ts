import { HttpError } from '../../web/http-error.ts';
import { addRequestedReviewers, type RequestedReviewer } from '../store/pull-request-reviewers.ts';
import { findNewestReview, insertReview, type ReviewRow } from '../store/pull-request-reviews.ts';
import { lockPullRequest, type PullRequestRow } from '../store/pull-requests.ts';
import { enqueueReviewEvent } from './enqueue-webhooks.ts';
import { type ForgeContext, newCommits } from './forge-context.ts';
import { bodyText } from './texts.ts';

type SubmittedReview = Pick<ReviewRow, 'reviewer' | 'verdict' | 'body'>;

/**
 * Adds a review of the current head. Idempotent for the same review by the same reviewer of the same commit. Throws an
 * `HttpError` 409 if the reviewer is the author, or if the head is another than `head`.
 */
export async function submitReview(
  context: ForgeContext,
  { id, author }: PullRequestRow,
  { reviewer, verdict, body, head }: SubmittedReview & { head?: string | undefined },
): Promise<ReviewRow> {
  if (isSame(reviewer, author)) throw new HttpError(409, `${author} opened this pull request and can't review it`);
  return await context.db.transaction(async (tx) => {
    const row = await lockPullRequest(tx, id);
    if (row === undefined) throw new HttpError(404, 'There is no such pull request');
    if (row.headSha !== (head ?? row.headSha)) throw newCommits();
    const submitted = { pullRequestId: id, reviewer, verdict, body: bodyText(body), commitSha: row.headSha };
    const last = await findNewestReview(tx, { pullRequestId: id, reviewer });
    if (last?.verdict === verdict && last.body === submitted.body && last.commitSha === row.headSha) return last;
    const review = await insertReview(tx, submitted);
    await enqueueReviewEvent(tx, context, { row, review });
    return review;
  });
}

/** Requests reviews, except from the author. Throws an `HttpError` 409 if the author is among the names. */
export async function requestReviewers(
  { db }: ForgeContext,
  { id, author }: PullRequestRow,
  reviewers: readonly RequestedReviewer[],
): Promise<void> {
  if (reviewers.some(({ kind, name }) => kind === 'user' && isSame(name, author))) {
    throw new HttpError(409, `${author} opened this pull request and can't be asked to review it`);
  }
  await addRequestedReviewers(db, id, reviewers);
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
