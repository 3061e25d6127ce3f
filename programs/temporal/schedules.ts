import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Logger } from 'pino';
import { GARBAGE_SCHEDULE, TASK_QUEUES, WATCHDOG_SCHEDULE, WORKFLOW_TYPES } from '../../contract/names.ts';

/** A schedule that starts a workflow without input. There is one of its id per namespace. */
export type Schedule = {
  id: string;
  workflowType: string;
  taskQueue: string;
  intervalMs: number;
  /** A run that finds no worker for this long must not keep the next one from starting. */
  timeoutMs: number;
};

/** A check takes seconds. */
export const WATCHDOG: Schedule = {
  id: WATCHDOG_SCHEDULE,
  workflowType: WORKFLOW_TYPES.watchdog,
  taskQueue: TASK_QUEUES.orchestrator,
  intervalMs: 5 * 60_000,
  timeoutMs: 15 * 60_000,
};

export const GARBAGE_COLLECTION: Schedule = {
  id: GARBAGE_SCHEDULE,
  workflowType: WORKFLOW_TYPES.collectGarbage,
  taskQueue: TASK_QUEUES.platform,
  intervalMs: 3_600_000,
  timeoutMs: 6 * 3_600_000,
};

const TASK_TIMEOUT_MS = 5_000;
const CATCHUP_MS = 60_000;

/** Also the delay of another attempt. */
const LOOK_EVERY_MS = 30_000;

/** Creates a schedule, or brings an existing one up to date. Any number of workers may do so. */
export async function ensureSchedule(client: Client, wanted: Schedule): Promise<void> {
  const { id, workflowType, taskQueue, intervalMs, timeoutMs } = wanted;
  const schedule = {
    spec: { intervals: [{ every: intervalMs }] },
    action: {
      type: 'startWorkflow' as const,
      workflowType,
      workflowId: id,
      taskQueue,
      args: [],
      workflowExecutionTimeout: timeoutMs,
      workflowTaskTimeout: TASK_TIMEOUT_MS,
    },
    // After an outage one run is enough.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_MS },
  };
  try {
    await client.schedule.create({ scheduleId: id, ...schedule, state: { triggerImmediately: true } });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    // An operator may have paused it, so its state stays.
    await client.schedule.getHandle(id).update(({ state }) => ({ ...schedule, state }));
  }
}

/** The same in the background, and again if the schedule is gone: Temporal may be restored without its data. */
export async function keepSchedule(
  wanted: Schedule,
  {
    client,
    logger,
    signal,
    lookEveryMs = LOOK_EVERY_MS,
  }: { client: Client; logger: Logger; signal: AbortSignal; lookEveryMs?: number },
): Promise<void> {
  let isThere = false;
  while (!signal.aborted) {
    try {
      if (!isThere) await ensureSchedule(client, wanted);
      isThere = true;
    } catch (error) {
      logger.warn({ schedule: wanted.id, reason: String(error) }, 'The schedule could not be created; trying again');
    }
    await sleep(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
    isThere &&= await exists(client, wanted);
  }
}

/** True if Temporal doesn't say. */
async function exists({ schedule }: Client, { id }: Schedule): Promise<boolean> {
  return await schedule
    .getHandle(id)
    .describe()
    .then(
      () => true,
      (error: unknown) => !(error instanceof ScheduleNotFoundError),
    );
}
