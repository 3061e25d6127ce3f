import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type PullRequestReading, type PullRequestState, reviewKey } from '../../contract/pull-request-event.ts';

/** What the workflow knows; null before the first response. */
export type KnownPullRequest = {
  state: PullRequestState;
  title: string;
  /** The keys of the reviews (`reviewKey`). */
  reviews: string[];
  /** The ids of those that request changes. A workflow of an earlier release doesn't pass them. */
  changeRequests?: string[];
};

/** Webhooks arrive within seconds. Polling only finds lost ones and mustn't exhaust the forge's rate limit. */
const FIRST_DELAY_MS = 15 * 60_000;
const LONGEST_DELAY_MS = 60 * 60_000;
const GROWTH = 1.3;

/**
 * Returns a pull request's state once it differs from what is known. Each attempt reads it once and fails with a benign
 * "Unchanged" if nothing has changed; Temporal retries after 15 minutes at first and an hour later. So waiting takes no
 * history and no worker slot.
 */
export function createFollowPullRequest(read: (input: { prLink: string }) => Promise<PullRequestReading>) {
  return async function followPullRequest(input: {
    prLink: string;
    known: KnownPullRequest | null;
  }): Promise<PullRequestReading> {
    const { attempt } = Context.current().info;
    const reading = await read({ prLink: input.prLink });
    if (input.known === null || differs(reading, input.known)) return reading;
    throw ApplicationFailure.create({
      type: 'Unchanged',
      message: `${reading.state}, ${reading.reviews.length} review(s)`,
      nextRetryDelay: Math.round(Math.min(FIRST_DELAY_MS * GROWTH ** (attempt - 1), LONGEST_DELAY_MS)),
      category: 'BENIGN',
    });
  };
}

function differs({ state, title, reviews, changeRequests = [] }: PullRequestReading, known: KnownPullRequest): boolean {
  if (state !== known.state || title !== known.title) return true;
  if (known.changeRequests && changeRequests.some(({ id }) => !known.changeRequests?.includes(id))) return true;
  return reviews.some((review) => !known.reviews.includes(reviewKey(review)));
}
