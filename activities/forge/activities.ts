import { ApplicationFailure } from '@temporalio/common';
import type { PullRequestState, Review } from '../../contract/pull-request-event.ts';
import type { ForgeReader } from '../../forge/forge.ts';
import { heartbeatWhile } from '../heartbeat.ts';
import { askForge } from './forge-failure.ts';
import { createPlanReview } from './plan-review.ts';

export type ForgeActivityDeps = {
  /** Where pull requests live; undefined without a `forge` in galley.yaml: then only the mail part runs. */
  forge?: ForgeReader | undefined;
  /** How long planning waits for a forge that is down; 15 minutes by default. */
  patienceMs?: number | undefined;
};

export type ReviewRequestInput = { prLink: string; logins: readonly string[]; teams: readonly string[] };
export type ReviewRequestResult = { requested: string[]; refused: { name: string; reason: string }[] };

export type PullRequestReading = {
  state: PullRequestState;
  title: string;
  mergeCommitSha: string | null;
  reviews: Review[];
};

/** What the orchestrator asks of a forge. Failures are those of forge-failure.ts. */
export function createForgeActivities({ forge, patienceMs }: ForgeActivityDeps) {
  return {
    planReview: createPlanReview(forge, patienceMs),

    /** Asks for reviews on the forge; who can't be asked is told, and stops nobody else. May be repeated. */
    async requestReview({ prLink, logins, teams }: ReviewRequestInput): Promise<ReviewRequestResult> {
      if (forge === undefined || logins.length + teams.length === 0) return { requested: [], refused: [] };
      return await heartbeatWhile(() => askForge(() => forge.requestReviews(prLink, { logins, teams })));
    },

    /** How a pull request stands. */
    async readPullRequest({ prLink }: { prLink: string }): Promise<PullRequestReading> {
      if (forge === undefined) {
        throw ApplicationFailure.create({ type: 'NoForge', message: 'no forge is configured', nonRetryable: true });
      }
      const { state, title, mergeCommitSha, reviews } = await heartbeatWhile(() =>
        askForge(() => forge.readPullRequest(prLink)),
      );
      return { state, title, mergeCommitSha, reviews };
    },
  };
}
