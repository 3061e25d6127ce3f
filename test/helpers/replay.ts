import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';

/** A run of a workflow: its history as fetched from a server, or as kept in a file. */
export type RecordedRun = { workflowId: string; history: unknown };

/**
 * Replays runs one after another, and says of each why it doesn't (undefined where it does), in their order. One worker
 * does all: to start one costs many times what a replay does.
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
      // The SDK's worker was seen to end between two runs. The rest goes to another, which must get further.
      if (errors.length === before) throw error;
    }
    if (errors.length === before) throw new Error(`replayed ${before} of ${runs.length} runs`);
  }
  return errors;
}

/** Why each of a folder's recorded histories doesn't replay, by its name; `none` where it does. */
export async function replayFiles(
  workflowBundle: WorkflowBundleOption,
  { path, names, workflowId = 'replayed' }: { path: string; names: readonly string[]; workflowId?: string },
): Promise<Map<string, string>> {
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')));
  const runs = texts.map((text): RecordedRun => ({ workflowId, history: JSON.parse(text) }));
  const errors = await replayErrors(workflowBundle, runs);
  return new Map(names.map((name, index) => [name, errors[index]?.message ?? 'none']));
}
