import type { SiteConfig } from '../../contract/galley-config.ts';
import type { AdminApiClient } from '../admin-api/http-client.ts';
import { createPatientCall } from '../admin-api/patient-call.ts';
import { QUICK_ASKS_MS } from '../admin-api/poll-job.ts';
import { createCancelAgentJob } from './cancel-agent-job.ts';
import { createCreateAgentJob } from './create-agent-job.ts';
import { createPollAgentJob } from './poll-agent-job.ts';

/** The agent part of the Admin API as activities, one HTTP call each. */
export function createAgentJobActivities(
  client: AdminApiClient,
  deps: {
    readSite: (site: string) => SiteConfig | undefined | Promise<SiteConfig | undefined>;
    /** Pauses between the first questions about a job; the tests on skipped time want none. */
    quickAsksMs?: readonly number[];
  },
) {
  const call = createPatientCall(client);
  return {
    createAgentJob: createCreateAgentJob(call, deps),
    pollAgentJob: createPollAgentJob(call, deps.quickAsksMs ?? QUICK_ASKS_MS),
    cancelAgentJob: createCancelAgentJob(call),
  };
}
