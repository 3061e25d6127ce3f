import { proxyActivities } from '@temporalio/workflow';
import type { PlatformActivities } from '../activities/create-platform-activities.ts';

const activities = proxyActivities<PlatformActivities>({
  // It lists the whole object store, and its first run may delete years of exports.
  startToCloseTimeout: '5h',
  heartbeatTimeout: '5s',
  // The schedule starts it again.
  retry: { maximumAttempts: 5 },
});

/** One run of `galley gc`, started by the schedule `galley-gc`. Returns how much each job deleted. */
export async function collectGarbage(): Promise<Record<string, number>> {
  return await activities.collectGarbage();
}
