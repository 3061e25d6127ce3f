import { setMaxListeners } from 'node:events';
import { CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';

const HEARTBEAT_MS = 1_000;

type Heartbeat = {
  /** Fires when the activity is canceled, its worker stops, or a tick failed. */
  signal: AbortSignal;
  /** Names the leases of this attempt. */
  token: string;
  isFirst: boolean;
};

function tokenOf(attempt: number): string {
  const { activityId, workflowExecution } = Context.current().info;
  return `${workflowExecution?.runId ?? 'no-workflow'}/${activityId}#${attempt}`;
}

/** The tokens of the activity's earlier attempts, which have ended but may still hold leases. */
export function previousAttemptTokens(): string[] {
  return Array.from({ length: Context.current().info.attempt - 1 }, (_, index) => tokenOf(index + 1));
}

/**
 * Runs an activity's work with a heartbeat every second. The Temporal UI shows `details`. `onTick` runs beside the work
 * (progress, renewed leases), never twice at the same time. If it throws an `ApplicationFailure`, the work is aborted and
 * the activity fails with it; any other error is only logged. The signal aborts what still runs when the work ends.
 */
export async function withHeartbeat<Result>(
  options: { details: () => unknown; onTick?: () => Promise<void>; logger: Logger },
  work: (heartbeat: Heartbeat) => Promise<Result>,
): Promise<Result> {
  const context = Context.current();
  const { activityId, attempt } = context.info;
  const ended = new AbortController();
  const signal = AbortSignal.any([context.cancellationSignal, ended.signal]);
  // Each running request listens to it. Node reports more than ten listeners as a leak.
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
      // Lost progress is only worth a warning: the work itself notices if the database is unavailable.
      options.logger.warn({ err: error, activityId }, 'Progress could not be written');
    } finally {
      ticking = false;
    }
  };
  context.heartbeat(options.details());
  const timer = setInterval(() => void tick(), HEARTBEAT_MS);
  try {
    return await work({ signal, token: tokenOf(attempt), isFirst: attempt === 1 });
  } catch (error) {
    if (context.cancellationSignal.aborted) throw new CancelledFailure('The job was canceled');
    throw stopped ?? error;
  } finally {
    clearInterval(timer);
    ended.abort(new Error('The activity has ended'));
  }
}
