import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { mailCall, oneCall, retry } from '../trouble/call-limits.ts';

/** Makes a random text: whatever takes longer than 5 s was a killed worker. */
export const { createExportKey } = proxyActivities<Activities>({
  startToCloseTimeout: '5s',
  retry,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** An interrupted start is waited for: whether the service accepted the job must be known. Between attempts it ends at once. */
export const { startExport } = proxyActivities<Activities>({
  ...oneCall,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** These only read, or may be repeated: an interrupted one is simply left. */
export const { pollExport, createBundle, findExport, readExport } = proxyActivities<Activities>({
  ...oneCall,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** Cancelling is a courtesy to the service: after half a minute the export is waited for instead. */
export const { cancelExport } = proxyActivities<Activities>({ ...oneCall, scheduleToCloseTimeout: '30s' });

/** Reads memory and a few small files; whatever takes longer than 5 s was a killed worker. */
export const { readSiteSettings } = proxyActivities<Activities>({
  startToCloseTimeout: '5s',
  retry,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * A write takes milliseconds, or about 5 s if a killed worker's lock has to become stale. What still fails after 8 s is
 * shown in the site's state and tried again by the refresh.
 */
export const { writeDeployment } = proxyActivities<Activities>({
  startToCloseTimeout: '7s',
  heartbeatTimeout: '5s',
  scheduleToCloseTimeout: '8s',
  retry: { ...retry, maximumInterval: '5s' },
});

/** Asks a file every few seconds by its retry policy: no history and no worker slot, however long a pin stays. */
export const { waitForPinChange } = proxyActivities<Activities>({
  startToCloseTimeout: '5s',
  retry,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

export const { sendSiteMail } = proxyActivities<Activities>(mailCall);
