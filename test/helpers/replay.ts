import { Worker, type WorkflowBundleOption } from '@temporalio/worker';

/** A run of a workflow: its history as fetched from a server, or as kept in a file. */
export type RecordedRun = { workflowId: string; history: unknown };

/**
 * Replays runs and returns the error of each, in their order, undefined if it replays. One worker replays all of them,
 * because to start one costs many times what a replay does.
 */
export async function replayErrors(
  workflowBundle: WorkflowBundleOption,
  runs: readonly RecordedRun[],
): Promise<(Error | undefined)[]> {
  const errors: (Error | undefined)[] = [];
  while (errors.length < runs.length) {
    const before = errors.length;
    try {
      const replays = Worker.runReplayHistories({ workflowBundle }, runs.slice(before));
      for await (const { error } of replays) errors.push(error);
    } catch (error) {
      // The SDK's worker sometimes ends between two runs. Another one replays the rest, and must get further.
      if (errors.length === before) throw error;
    }
    if (errors.length === before) throw new Error(`replayed ${before} of ${runs.length} runs`);
  }
  return errors;
}
