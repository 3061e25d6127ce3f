import type { ReviewRequestReport } from '../../contract/agent-state.ts';
import type { ForgeReader } from '../../forge/forge.ts';
import { heartbeatWhile } from '../heartbeat.ts';
import { createFollowPullRequest } from './follow-pull-request.ts';
import { askForge } from './forge-failure.ts';
import { createPlanReview } from './plan-review.ts';
import { createReadPullRequest } from './read-pull-request.ts';

export type ForgeActivityDeps = {
  /** Where pull requests live; undefined without a `forge` in galley.yaml: then only the mail part runs. */
  forge?: ForgeReader | undefined;
  /** How long planning waits for a forge that is down; 15 minutes by default. */
  patienceMs?: number | undefined;
};

export type ReviewRequestInput = { prLink: string; logins: readonly string[]; teams: readonly string[] };

/** What the orchestrator asks of a forge. Failures are those of forge-failure.ts. */
export function createForgeActivities({ forge, patienceMs }: ForgeActivityDeps) {
  const readPullRequest = createReadPullRequest(forge);
  return {
    planReview: createPlanReview(forge, patienceMs),

    /** Asks for reviews on the forge; who can't be asked is told, and stops nobody else. May be repeated. */
    async requestReview({ prLink, logins, teams }: ReviewRequestInput): Promise<ReviewRequestReport> {
      if (forge === undefined || logins.length + teams.length === 0) return { requested: [], refused: [] };
      return await heartbeatWhile(() => askForge(() => forge.requestReviews(prLink, { logins, teams })));
    },

    readPullRequest,
    followPullRequest: createFollowPullRequest(readPullRequest),
  };
}
