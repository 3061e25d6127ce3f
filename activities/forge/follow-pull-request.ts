import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type PullRequestReading, type PullRequestState, reviewKey } from '../../contract/pull-request-event.ts';

/** What the workflow knows already; null before the first answer. */
export type KnownPullRequest = {
  state: PullRequestState;
  title: string;
  /** The keys of the reviews (`reviewKey`). */
  reviews: string[];
};

/** Webhooks tell within seconds: asking is for what was lost, and mustn't use up a forge's patience. */
const FIRST_DELAY_MS = 15 * 60_000;
const LONGEST_DELAY_MS = 60 * 60_000;
const GROWTH = 1.3;

/**
 * Waits until a pull request differs from what is known, and tells how it stands then. It asks once; while nothing has
 * changed it fails with a benign "Unchanged", so that Temporal asks again by its retry policy, every quarter of an hour
 * at first and every hour later: no history and no worker slot in between. Failures are those of `read`.
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

function differs({ state, title, reviews }: PullRequestReading, known: KnownPullRequest): boolean {
  if (state !== known.state || title !== known.title) return true;
  return reviews.some((review) => !known.reviews.includes(reviewKey(review)));
}
