import { setTimeout as sleep } from 'node:timers/promises';
import { type ReplayWorkerOptions, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { z } from 'zod';

/** A run of a workflow: its history as fetched from a server, or as kept in a file. */
export type RecordedRun = { workflowId: string; history: unknown };

/**
 * The SDK's replay worker sometimes ends or stalls between two runs. Then another one replays the rest. The time is no
 * expectation of speed: a replay takes milliseconds.
 */
const STALLED_AFTER_MS = 60_000;
const WORKERS_WITHOUT_RESULT = 3;

/**
 * Replays runs and returns the error of each, in their order, undefined if it replays. One worker replays all of them,
 * because to start one costs many times what a replay does.
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

/** One run of each kind: runs with the same sequence of events replay alike, and a test may start a thousand of them. */
export function distinctRuns<Run extends RecordedRun>(runs: readonly Run[]): Run[] {
  return [...new Map(runs.map((run) => [kindOf(run.history), run])).values()];
}

/** The types of the workflow, the events and the activities. */
function kindOf(history: unknown): string {
  const named = z.object({ name: z.string() }).nullish();
  const event = z.object({
    eventType: z.union([z.string(), z.number()]).nullish(),
    workflowExecutionStartedEventAttributes: z.object({ workflowType: named }).nullish(),
    activityTaskScheduledEventAttributes: z.object({ activityType: named }).nullish(),
  });
  return JSON.stringify(z.object({ events: z.array(event) }).parse(history).events);
}
