import { Context } from '@temporalio/activity';

/** Well within the heartbeat timeout of 5 s, which detects a killed worker. */
const EVERY_MS = 1_500;

/** Heartbeats for as long as `work` lasts. `details` returns the newest; by default they are those of the last heartbeat. */
export async function heartbeatWhile<T>(work: () => Promise<T>, details?: () => unknown): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(details?.()), EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
