import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { type ReplayWorkerOptions, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
import { z } from 'zod';

/** A run of a workflow. Its history comes from a server or from a file. */
export type RecordedRun = { workflowId: string; history: unknown };

/**
 * The SDK's replay worker sometimes ends or stalls between two runs. Then another one replays the rest. A replay takes
 * milliseconds, so this limit is independent of the machine's speed.
 */
const STALLED_AFTER_MS = 60_000;
const WORKERS_WITHOUT_RESULT = 3;

/**
 * Replays runs and returns the error of each in order, or undefined if it replays. One worker replays all of them,
 * because starting a worker costs much more than a replay.
 */
export async function replayErrors(
  workflowBundle: WorkflowBundleOption,
  runs: readonly RecordedRun[],
): Promise<(Error | undefined)[]> {
  const errors: (Error | undefined)[] = [];
  for (let failures = 0; errors.length < runs.length; ) {
    const before = errors.length;
    const problem = await replayRest({ workflowBundle }, runs.slice(before), errors).catch((error: unknown) => error);
    failures = errors.length > before ? 0 : failures + 1;
    if (failures === WORKERS_WITHOUT_RESULT) {
      throw new Error(`replayed ${before} of ${runs.length} runs`, { cause: problem });
    }
  }
  // A replay worker hooks each promise of this process and never stops: the files after this one took a third longer.
  globalHandlers.uninstall();
  return errors;
}

/** Adds the error of each run, until the worker ends or stalls. */
async function replayRest(
  options: ReplayWorkerOptions,
  runs: readonly RecordedRun[],
  errors: (Error | undefined)[],
): Promise<void> {
  const replays = Worker.runReplayHistories(options, runs)[Symbol.asyncIterator]();
  for (;;) {
    const stalled = new AbortController();
    const timeout = sleep(STALLED_AFTER_MS, 'stalled' as const, { signal: stalled.signal }).catch(
      () => 'stalled' as const,
    );
    const next = await Promise.race([replays.next(), timeout]).finally(() => stalled.abort());
    // A stalled worker can't be stopped. It ends with the process.
    if (next === 'stalled' || next.done) return;
    errors.push(next.value.error);
  }
}

/**
 * One run per sequence of events. Runs with the same sequence replay alike, and a test may start a thousand of them.
 *
 * Without those that have only their first event: a run that continued as new within a second of its start waits for the
 * rest of it before its first task. There is nothing to replay yet, and a replay worker waits for that task forever.
 */
export function distinctRuns<Run extends RecordedRun>(runs: readonly Run[]): Run[] {
  const bySteps = new Map(runs.map((run) => [stepsOf(run.history).steps, run]));
  const begun = [...bySteps].filter(([steps]) => steps.length > 1);
  return [...new Map(begun.map(([steps, run]) => [steps.join('\n'), run])).values()];
}

const named = z.object({ name: z.string() }).nullish();
const ofActivity = z.object({ scheduledEventId: z.unknown() }).nullish();
const recorded = z.object({
  events: z.array(
    z.object({
      eventId: z.unknown(),
      eventType: z.union([z.string(), z.number()]).nullish(),
      workflowExecutionStartedEventAttributes: z.object({ workflowType: named }).nullish(),
      workflowExecutionSignaledEventAttributes: z.object({ signalName: z.string() }).nullish(),
      workflowExecutionUpdateAcceptedEventAttributes: z
        .object({ acceptedRequest: z.object({ input: named }).nullish() })
        .nullish(),
      activityTaskScheduledEventAttributes: z.object({ activityType: named }).nullish(),
      activityTaskFailedEventAttributes: ofActivity,
      activityTaskTimedOutEventAttributes: ofActivity,
      activityTaskCanceledEventAttributes: ofActivity,
    }),
  ),
});
type RecordedEvent = z.infer<typeof recorded>['events'][number];

/** The workflow type, and the type of each event with the name of its activity, signal or update. */
export function stepsOf(history: unknown): { type: string; steps: string[] } {
  const { events } = recorded.parse(history);
  const activities = new Map(
    events.map((event) => [String(event.eventId), event.activityTaskScheduledEventAttributes?.activityType?.name]),
  );
  const nameOf = (event: RecordedEvent): string | undefined => {
    const ended =
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskCanceledEventAttributes;
    return (
      event.workflowExecutionSignaledEventAttributes?.signalName ??
      event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name ??
      activities.get(String(ended?.scheduledEventId ?? event.eventId))
    );
  };
  const steps = events.map((event) => [event.eventType, nameOf(event)].filter(Boolean).join(' '));
  return { type: events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? '', steps };
}

export type FetchedRun = { workflowId: string; runId: string; history: History; length: number };

/** The runs of a workflow, newest first. Empty if it never ran. */
export async function runsOf(client: Client, workflowId: string): Promise<FetchedRun[]> {
  const runs: FetchedRun[] = [];
  let runId: string | null | undefined = await client.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      (description) => description.runId,
      () => undefined,
    );
  while (runId) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    runs.push({ workflowId, runId, history, length: history.events?.length ?? 0 });
    runId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  }
  return runs;
}
