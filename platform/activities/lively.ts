import { setMaxListeners } from 'node:events';
import { CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';

const HEARTBEAT_MS = 1_000;

export type Lively = {
  /** Fires when the activity is cancelled, its worker stops, or a tick failed. */
  signal: AbortSignal;
  /** Names what this attempt holds, and what its earlier attempts, which are dead, may still hold. */
  token: string;
  deadTokens: readonly string[];
};

/**
 * Runs an activity's work with a sign of life every second: `details` is what the Temporal UI shows, `onTick` runs
 * beside the work (progress, longer leases), never twice at the same time. If it throws an `ApplicationFailure`, the work
 * is aborted and the activity fails with it; any other error is only logged. What is under way when the work ends or
 * fails is aborted.
 */
export async function lively<Result>(
  options: { details: () => unknown; onTick?: () => Promise<void>; logger: Logger },
  work: (lively: Lively) => Promise<Result>,
): Promise<Result> {
  const context = Context.current();
  const { activityId, attempt, workflowExecution } = context.info;
  const runId = workflowExecution?.runId ?? 'no-workflow';
  const tokenOf = (number: number) => `${runId}/${activityId}#${number}`;
  const ended = new AbortController();
  const signal = AbortSignal.any([context.cancellationSignal, ended.signal]);
  // Every request under way listens to it, and there are many; Node takes more than ten for a leak.
  setMaxListeners(0, signal);

  let ticking = false;
  let stopped: ApplicationFailure | undefined;
  const tick = async (): Promise<void> => {
    context.heartbeat(options.details());
    if (ticking || options.onTick === undefined) return;
    ticking = true;
    try {
      await options.onTick();
    } catch (error) {
      if (error instanceof ApplicationFailure) {
        stopped ??= error;
        ended.abort(error);
        return;
      }
      // Progress is worth a warning only; whether the database is away the work itself finds out.
      options.logger.warn({ err: error, activityId }, 'Progress could not be written');
    } finally {
      ticking = false;
    }
  };
  context.heartbeat(options.details());
  const timer = setInterval(() => void tick(), HEARTBEAT_MS);
  try {
    return await work({
      signal,
      token: tokenOf(attempt),
      deadTokens: Array.from({ length: attempt - 1 }, (_, index) => tokenOf(index + 1)),
    });
  } catch (error) {
    if (context.cancellationSignal.aborted) throw new CancelledFailure('The job was cancelled');
    throw stopped ?? error;
  } finally {
    clearInterval(timer);
    ended.abort(new Error('The activity has ended'));
  }
}
