import type { RuleRun } from './state.ts';

/** When the collected events of a rule are prompted: pure functions. */

type PromptSettings = { quietPeriodMs: number; maxPerHour: number };

/** Constant publishing delays a prompt by at most this many quiet periods after the first event. */
export const MAX_QUIET_PERIODS = 10;

const HOUR_MS = 3_600_000;

/** An upper limit of `maxPerHour`, because the state keeps every start of the last hour. */
const MAX_STARTS_PER_HOUR = 1_000;

type Due = {
  atMs: number;
  /** `maxPerHour` delays the prompt. */
  limited: boolean;
};

/** The start is after a quiet period unless it is immediate, and when `maxPerHour` allows it. */
export function dueOf(
  waiting: { firstAtMs: number; lastAtMs: number; immediate?: boolean },
  startsMs: readonly number[],
  { quietPeriodMs, maxPerHour }: PromptSettings,
): Due {
  const { firstAtMs, lastAtMs, immediate = false } = waiting;
  const quietAtMs = immediate
    ? firstAtMs
    : Math.min(lastAtMs + quietPeriodMs, firstAtMs + MAX_QUIET_PERIODS * quietPeriodMs);
  const freeAtMs = freeAtMsOf(startsMs, maxPerHour);
  return { atMs: Math.max(quietAtMs, freeAtMs), limited: freeAtMs > quietAtMs };
}

/** Null if no event waits, or the settings are unknown. */
export function dueOfRun({ state, settings }: RuleRun): Due | null {
  if (state.waiting === null || settings === null) return null;
  return dueOf(state.waiting, state.startsMs, settings);
}

/** Adds a start and drops those older than an hour. */
export function addStart(startsMs: readonly number[], nowMs: number): number[] {
  return [...startsMs.filter((startMs) => startMs > nowMs - HOUR_MS), nowMs].slice(-MAX_STARTS_PER_HOUR);
}

/** Says when one more start makes at most `maxPerHour` within any hour. `startsMs` is ascending. */
function freeAtMsOf(startsMs: readonly number[], maxPerHour: number): number {
  const decisive = startsMs.at(-Math.min(maxPerHour, MAX_STARTS_PER_HOUR));
  return decisive === undefined ? Number.NEGATIVE_INFINITY : decisive + HOUR_MS;
}
