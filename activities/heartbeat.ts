import { Context } from '@temporalio/activity';

/** Well within the heartbeat timeout of 5 s, by which a killed worker's activity is noticed. */
const EVERY_MS = 1_500;

/** Heartbeats for as long as `work` lasts. `details` stay what the last real heartbeat told. */
export async function heartbeatWhile<T>(work: () => Promise<T>, details?: unknown): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(details), EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
