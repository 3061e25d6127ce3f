import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { retry } from '../trouble/call-limits.ts';

/** Reads memory; whatever takes longer than 5 s was a killed worker. */
export const { readRuleSettings } = proxyActivities<Activities>({
  startToCloseTimeout: '5s',
  retry,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});
