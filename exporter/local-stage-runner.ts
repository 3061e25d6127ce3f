import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { NO_PROGRESS, type Progress, type RunStage } from './stage.ts';

const PROGRESS_MS = 250;

/** Runs stages in this process. `signal` ends them; `onProgress` gets their progress several times a second. */
export function createLocalStageRunner({
  signal,
  onProgress,
}: {
  signal: AbortSignal;
  onProgress: (progress: Progress) => void;
}): RunStage {
  // A failed stage releases its leases itself, unless that fails too.
  const failedTokens: string[] = [];

  return async ({ progress = async () => NO_PROGRESS }, work) => {
    signal.throwIfAborted();
    const token = randomUUID();
    const failing = new AbortController();
    const either = AbortSignal.any([signal, failing.signal]);
    // Every request listens to it.
    setMaxListeners(0, either);
    let asking = false;
    const timer = setInterval(async () => {
      if (asking) return;
      asking = true;
      await progress().then(onProgress, (error: unknown) => failing.abort(error));
      asking = false;
    }, PROGRESS_MS);
    try {
      return await work({
        signal: either,
        token,
        previousAttemptTokens: failedTokens,
        report: async (reached) => onProgress(reached),
      });
    } catch (error) {
      failedTokens.push(token);
      throw error;
    } finally {
      clearInterval(timer);
    }
  };
}
