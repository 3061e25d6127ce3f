import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Logger } from 'pino';
import { TASK_QUEUES, WATCHDOG_SCHEDULE, WORKFLOW_TYPES } from '../contract/names.ts';

type WatchdogOptions = {
  client: Client;
  taskQueue?: string;
  intervalMs?: number;
};

const INTERVAL_MS = 5 * 60_000;

/** A check takes seconds. One that finds no worker for this long must not keep the next one from starting. */
const CHECK_TIMEOUT_MS = 15 * 60_000;
const TASK_TIMEOUT_MS = 5_000;
const CATCHUP_MS = 60_000;

/** Also the delay of another attempt. */
const LOOK_EVERY_MS = 30_000;

/** Creates the schedule of the watchdog, or brings an existing one up to date. Any number of workers may do so. */
export async function ensureWatchdog(options: WatchdogOptions): Promise<void> {
  const { client, taskQueue = TASK_QUEUES.orchestrator, intervalMs = INTERVAL_MS } = options;
  const schedule = {
    spec: { intervals: [{ every: intervalMs }] },
    action: {
      type: 'startWorkflow' as const,
      workflowType: WORKFLOW_TYPES.watchdog,
      workflowId: WATCHDOG_SCHEDULE,
      taskQueue,
      args: [],
      workflowExecutionTimeout: CHECK_TIMEOUT_MS,
      workflowTaskTimeout: TASK_TIMEOUT_MS,
    },
    // After an outage one check is enough.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_MS },
  };
  try {
    await client.schedule.create({ scheduleId: WATCHDOG_SCHEDULE, ...schedule, state: { triggerImmediately: true } });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    // An operator may have paused it, so its state stays.
    await client.schedule.getHandle(WATCHDOG_SCHEDULE).update(({ state }) => ({ ...schedule, state }));
  }
}

/** The same in the background, and again if the schedule is gone: Temporal may be restored without its data. */
export async function keepWatchdog(
  options: WatchdogOptions,
  { logger, signal, lookEveryMs = LOOK_EVERY_MS }: { logger: Logger; signal: AbortSignal; lookEveryMs?: number },
): Promise<void> {
  let isThere = false;
  while (!signal.aborted) {
    try {
      if (!isThere) await ensureWatchdog(options);
      isThere = true;
    } catch (error) {
      logger.warn({ reason: String(error) }, 'The schedule of the watchdog could not be created; trying again');
    }
    await sleep(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
    isThere &&= await exists(options.client);
  }
}

/** True if Temporal doesn't say. */
async function exists({ schedule }: Client): Promise<boolean> {
  return await schedule
    .getHandle(WATCHDOG_SCHEDULE)
    .describe()
    .then(
      () => true,
      (error: unknown) => !(error instanceof ScheduleNotFoundError),
    );
}
