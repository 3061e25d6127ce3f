import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  isCancellation,
  log,
  ParentClosePolicy,
  proxyActivities,
  startChild,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import { WORKFLOW_IDS, WORKFLOW_TYPES } from '../contract/names.ts';
import { type WatchdogState, watchdogState } from '../contract/watchdog.ts';
import { readFailure } from './failures/read-failure.ts';
import { compareProblems } from './watchdog/compare-problems.ts';
import type { WatchdogReport, watchdogReport } from './watchdog-report.ts';

/** A check of 10,000 sites takes a minute if the server has to describe each workflow. */
const { checkSites } = proxyActivities<Activities>({
  startToCloseTimeout: '4m',
  scheduleToCloseTimeout: '4m',
  heartbeatTimeout: '30s',
});

const { sendHeartbeat } = proxyActivities<Activities>({
  startToCloseTimeout: '15s',
  scheduleToCloseTimeout: '1m',
});

/** A mail with more is too long to read. */
const MAX_LISTED = 50;

/**
 * One check of all sites, started by the schedule `galley-watchdog`, which hands the last result over. It has no state of
 * its own and needs no workflow of a site. Fails if it can't check; then no heartbeat is sent.
 */
export async function watchdog(): Promise<WatchdogState> {
  const { lastResult } = workflowInfo();
  const before = watchdogState.safeParse(lastResult).data ?? { open: [] };
  const { problems, operators } = await checkSites();
  const { open, opened, solved } = compareProblems(before.open, problems, {
    nowMs: Date.now(),
    canReport: operators.length > 0,
  });
  if (operators.length > 0 && opened.length + solved.length > 0) {
    const [news, ends] = [opened.slice(0, MAX_LISTED), solved.slice(0, MAX_LISTED)];
    const omitted = opened.length + solved.length - news.length - ends.length;
    await startReport({ operators, opened: news, solved: ends, omitted });
  }
  try {
    await sendHeartbeat();
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('The heartbeat was not sent', { reason: readFailure(error).message });
  }
  return { open };
}

/** Mail servers may be down for hours, and the next check must not wait for them. */
async function startReport(report: WatchdogReport): Promise<void> {
  try {
    await startChild<typeof watchdogReport>(WORKFLOW_TYPES.watchdogReport, {
      workflowId: WORKFLOW_IDS.watchdogReport(workflowInfo().workflowId),
      args: [report],
      // A reset check must not report again.
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowTaskTimeout: '5s',
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
