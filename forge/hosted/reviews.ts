import type { Octokit } from '@octokit/rest';
import type { ChangeRequest, Review, ReviewVerdict } from '../../contract/pull-request-event.ts';
import type { ReviewText } from '../forge.ts';
import type { RepositoryTarget } from './connection.ts';
import type { Dialect } from './responses.ts';
import {
  listOf,
  type ReviewCommentResponse,
  type ReviewResponse,
  reviewCommentResponse,
  reviewResponse,
} from './responses.ts';

/** GitHub's and Gitea's names; others aren't reviews: pending, dismissed, Gitea's requests. */
const VERDICTS: Readonly<Record<string, ReviewVerdict>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes-requested',
  REQUEST_CHANGES: 'changes-requested',
  COMMENTED: 'commented',
  COMMENT: 'commented',
};

type SubmittedReview = Review & { id: string; dismissed: boolean };

/** All submitted reviews but the author's own, oldest first. */
function submittedReviews(responses: readonly ReviewResponse[], author: string): SubmittedReview[] {
  return responses
    .flatMap(({ id, user, state, submitted_at, dismissed }): SubmittedReview[] => {
      const verdict = VERDICTS[state];
      const atMs = Date.parse(submitted_at ?? '');
      if (!user || !verdict || Number.isNaN(atMs) || user.login === author) return [];
      const bot = user.type === 'Bot' && { bot: true };
      const at = new Date(atMs).toISOString();
      return [{ id, dismissed: dismissed === true, reviewer: user.login, verdict, at, ...bot }];
    })
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

/**
 * Each reviewer's last verdict, and all reviews that request changes, oldest first. As on the forges' own pages, a
 * comment doesn't withdraw a verdict, and the author's replies aren't reviews.
 */
export function readReviews(
  responses: readonly ReviewResponse[],
  author: string,
): { reviews: Review[]; changeRequests: ChangeRequest[] } {
  const all = submittedReviews(responses, author);
  const latest = new Map<string, Review>();
  for (const { id: _, dismissed, ...review } of all) {
    const before = latest.get(review.reviewer);
    if (dismissed || (review.verdict === 'commented' && before && before.verdict !== 'commented')) continue;
    latest.set(review.reviewer, review);
  }
  const reviews = [...latest.values()].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const changeRequests = all
    .filter(({ verdict }) => verdict === 'changes-requested')
    // Gitea dismisses a review when its author submits another, which may only add to it.
    .filter(({ dismissed, reviewer }) => !dismissed || latest.get(reviewer)?.verdict === 'changes-requested')
    .map(({ verdict: _, dismissed: __, ...request }) => request);
  return { reviews, changeRequests };
}

/** @throws octokit's errors */
export async function readReview(
  client: Octokit,
  { dialect, target, id }: { dialect: Dialect; target: RepositoryTarget & { pull_number: number }; id: string },
): Promise<ReviewText> {
  const review = { ...target, review_id: Number(id) };
  const { body } = reviewResponse.parse((await client.rest.pulls.getReview(review)).data);
  const ask = (page: number) => client.rest.pulls.listCommentsForReview({ ...review, ...dialect.pageSize, page });
  const comments = await listOf(reviewCommentResponse, ask);
  const textOf = (comment: ReviewCommentResponse) => ({
    path: comment.path,
    line: dialect.lineOf(comment),
    body: comment.body,
  });
  return { body: body ?? '', comments: comments.map(textOf) };
}
