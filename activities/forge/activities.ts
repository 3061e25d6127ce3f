import type { ReviewRequestReport } from '../../contract/agent-state.ts';
import type { ForgeReader } from '../../forge/forge.ts';
import { heartbeatWhile } from '../heartbeat.ts';
import { createFollowPullRequest } from './follow-pull-request.ts';
import { askForge } from './forge-failure.ts';
import { createPlanReview } from './plan-review.ts';
import { createReadPullRequest } from './read-pull-request.ts';
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
