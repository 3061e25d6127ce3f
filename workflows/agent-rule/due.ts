/** When a rule's collected events are prompted: pure decisions over times in milliseconds. */

export type DueSettings = { quietPeriodMs: number; maxPerHour: number };

/**
 * Events that keep coming put a prompt off, but not for longer than this many quiet periods after the first one: one
 * page published every few seconds all day long is still heard of.
 */
export const MOST_QUIET_PERIODS = 10;

const HOUR_MS = 3_600_000;

/** More starts than this in an hour are never made, whatever `maxPerHour` says: they all have to be remembered. */
const MOST_PER_HOUR = 1_000;

export type Due = { atMs: number /** It is `maxPerHour` that what is collected waits for. */; limited: boolean };

/** When what waits is due. Never before a start would leave room for it within the hour. */
export function dueOf(
  waiting: { firstAtMs: number; lastAtMs: number },
  startsMs: readonly number[],
  { quietPeriodMs, maxPerHour }: DueSettings,
): Due {
  const quietAtMs = Math.min(waiting.lastAtMs + quietPeriodMs, waiting.firstAtMs + MOST_QUIET_PERIODS * quietPeriodMs);
  const freeAtMs = freeAtMsOf(startsMs, maxPerHour);
  return { atMs: Math.max(quietAtMs, freeAtMs), limited: freeAtMs > quietAtMs };
}

/** Notes a start and forgets those that are more than an hour old. */
export function addStart(startsMs: readonly number[], nowMs: number): number[] {
  return [...startsMs.filter((startMs) => startMs > nowMs - HOUR_MS), nowMs].slice(-MOST_PER_HOUR);
}

/** When one more start makes no more than `maxPerHour` within any hour. `startsMs` ascends. */
function freeAtMsOf(startsMs: readonly number[], maxPerHour: number): number {
  const decisive = startsMs.at(-Math.min(maxPerHour, MOST_PER_HOUR));
  return decisive === undefined ? Number.NEGATIVE_INFINITY : decisive + HOUR_MS;
}
