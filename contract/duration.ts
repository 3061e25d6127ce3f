import { z } from 'zod';

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNIT_MS;

const PATTERN = /^(\d+)(ms|s|m|h|d)$/;

function isUnit(text: string | undefined): text is Unit {
  return text !== undefined && text in UNIT_MS;
}

/** Parses `500ms`, `10s`, `5m`, `24h` or `2d` into milliseconds; undefined for anything else. */
export function parseDurationMs(text: string): number | undefined {
  const [, amount, unit] = PATTERN.exec(text) ?? [];
  if (amount === undefined || !isUnit(unit)) return undefined;
  const ms = Number(amount) * UNIT_MS[unit];
  return Number.isSafeInteger(ms) ? ms : undefined;
}

const EXPECTED = 'expected a duration such as 500ms, 10s, 5m, 24h or 2d';

/** Longer than anyone waits, and far from the largest date: a later time would stop a workflow for good. */
const LONGEST_MS = 3650 * UNIT_MS.d;

/** A configured duration; parsed to milliseconds. */
export const durationMs = z.string(EXPECTED).transform((text, context) => {
  const ms = parseDurationMs(text);
  if (ms === undefined) {
    context.addIssue({ code: 'custom', message: EXPECTED });
    return z.NEVER;
  }
  if (ms > LONGEST_MS) {
    context.addIssue({ code: 'custom', message: 'expected a duration of at most 3650d' });
    return z.NEVER;
  }
  return ms;
});

/** A duration of at least one millisecond, in milliseconds. */
export const positiveDurationMs = durationMs.refine((ms) => ms > 0, 'expected a duration longer than zero');

/** Formats milliseconds in the largest unit that divides them: 90000 → `90s`, 7200000 → `2h`. */
export function formatDurationMs(ms: number): string {
  const units: Unit[] = ['d', 'h', 'm', 's'];
  const unit = units.find((candidate) => ms >= UNIT_MS[candidate] && ms % UNIT_MS[candidate] === 0) ?? 'ms';
  return `${ms / UNIT_MS[unit]}${unit}`;
}
