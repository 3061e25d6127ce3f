import type { AdminApiClient } from '../../client/admin-api-client.ts';
import { createAdminApiCaller } from '../admin-api/call-admin-api.ts';
import { QUICK_ASKS_MS } from '../admin-api/poll-job.ts';
import type { ReadSite } from '../sites/read-site.ts';
import { createCancelAgentJob, createPollAgentJob } from './agent-job.ts';
import { createCreateAgentJob } from './create-agent-job.ts';
import { createMessageAgentJob } from './message-agent-job.ts';
import { createReadLastWords } from './read-last-words.ts';
import { createRenderAgentPrompt } from './render-agent-prompt.ts';

/** The agent part of the Admin API as activities: one renders the prompt, the others make one HTTP call each. */
export function createAgentJobActivities(
  client: AdminApiClient,
  deps: {
    readSite: ReadSite;
    /** Pauses between the first polls of a job; tests on skipped time want none. */
    quickAsksMs?: readonly number[];
  },
) {
  const call = createAdminApiCaller(client);
  return {
    renderAgentPrompt: createRenderAgentPrompt(deps.readSite),
    createAgentJob: createCreateAgentJob(call),
    messageAgentJob: createMessageAgentJob(call),
    pollAgentJob: createPollAgentJob(call, deps.quickAsksMs ?? QUICK_ASKS_MS),
    readLastWords: createReadLastWords(call),
    cancelAgentJob: createCancelAgentJob(call),
  };
}
