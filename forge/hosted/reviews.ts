import type { Review, ReviewVerdict } from '../../contract/pull-request-event.ts';
import type { ReviewResponse } from './responses.ts';

/** GitHub's and Gitea's names; others aren't reviews: pending, dismissed, Gitea's requests. */
const VERDICTS: Readonly<Record<string, ReviewVerdict>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes-requested',
  REQUEST_CHANGES: 'changes-requested',
  COMMENTED: 'commented',
  COMMENT: 'commented',
};

/**
 * Each reviewer's last verdict, oldest first. As on the forges' own pages, a comment doesn't withdraw a verdict, and
 * the author's replies aren't reviews.
 */
export function latestReviews(responses: readonly ReviewResponse[], author: string): Review[] {
  const reviews = responses
    .flatMap(({ user, state, submitted_at, dismissed }): Review[] => {
      const verdict = VERDICTS[state];
      const atMs = Date.parse(submitted_at ?? '');
      if (!user || !verdict || dismissed || Number.isNaN(atMs) || user.login === author) return [];
      const bot = user.type === 'Bot' && { bot: true };
      return [{ reviewer: user.login, verdict, at: new Date(atMs).toISOString(), ...bot }];
    })
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const latest = new Map<string, Review>();
  for (const review of reviews) {
    const before = latest.get(review.reviewer);
    if (review.verdict === 'commented' && before && before.verdict !== 'commented') continue;
    latest.set(review.reviewer, review);
  }
  return [...latest.values()].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}
