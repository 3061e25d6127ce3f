import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ReviewRequestReport } from '../../contract/agent-state.ts';
import { type PullRequestReading, type PullRequestState, reviewKey } from '../../contract/pull-request-event.ts';
import type { ForgeReader } from '../../forge/forge.ts';
import { heartbeatWhile } from '../heartbeat.ts';
import { askForge } from './forge-failure.ts';
import { createPlanReview } from './plan-review.ts';
import { createRenderFollowUp } from './render-follow-up.ts';

type ForgeActivityDeps = {
  /** Undefined without `forge` in galley.yaml: then reviews are requested by mail only. */
  forge?: ForgeReader | undefined;
  /** How long planning retries a forge that is down; 15 minutes by default. */
  retryForMs?: number | undefined;
};

type ReviewRequestInput = { prLink: string; logins: readonly string[]; teams: readonly string[] };

/** The forge's activities. They fail with the types of forge-failure.ts. */
export function createForgeActivities({ forge, retryForMs }: ForgeActivityDeps) {
  const readPullRequest = createReadPullRequest(forge);
  return {
    planReview: createPlanReview(forge, retryForMs),

    /** Requests reviews on the forge. Returns the reviewers that it rejects and still asks the others. Idempotent. */
    async requestReview({ prLink, logins, teams }: ReviewRequestInput): Promise<ReviewRequestReport> {
      if (forge === undefined || logins.length + teams.length === 0) return { requested: [], refused: [] };
      return await heartbeatWhile(() => askForge(() => forge.requestReviews(prLink, { logins, teams })));
    },

    readPullRequest,
    renderFollowUp: createRenderFollowUp(forge),
    followPullRequest: createFollowPullRequest(readPullRequest),
  };
}

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

/** More than anyone submits between two readings. */
const MAX_CHANGE_REQUESTS = 50;

/** Reads the pull request once. Fails with the types of forge-failure.ts. */
function createReadPullRequest(forge: ForgeReader | undefined) {
  return async function readPullRequest({ prLink }: { prLink: string }): Promise<PullRequestReading> {
    if (forge === undefined) {
      throw ApplicationFailure.create({ type: 'NoForge', message: 'no forge is configured', nonRetryable: true });
    }
    const { state, title, mergeCommitSha, reviews, changeRequests } = await heartbeatWhile(() =>
      askForge(() => forge.readPullRequest(prLink)),
    );
    return { state, title, mergeCommitSha, reviews, changeRequests: changeRequests.slice(-MAX_CHANGE_REQUESTS) };
  };
}
