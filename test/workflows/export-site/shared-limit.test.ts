import { spreadMs } from '../../../base/backoff.ts';
import { decideUse } from '../../../platform/api/sliding-window.ts';
import { failuresInARow, startBackOff } from '../../../workflows/export-site/back-off.ts';
import { newState } from '../../../workflows/export-site/state.ts';

const HOUR_MS = 3_600_000;

/** The activity waits for a Retry-After up to this. The workflow waits for a longer one (call-admin-api.ts). */
const SHORT_WAIT_MS = 30_000;

/** A seeded random generator of numbers from 0 to 1. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Site = { publishedAtMs: number; nextTryMs: number; attempt: number; state: ReturnType<typeof newState> };

/**
 * Sites of one organization, all published at the same moment, `rounds` times with `everyMs` between. The service accepts
 * `perHour` starts in any hour and rejects others until a slot becomes free. The clock jumps from attempt to attempt.
 */
function simulate(options: { sites: number; perHour: number; seed: number; rounds?: number; everyMs?: number }) {
  const { perHour, rounds = 1, everyMs = 0 } = options;
  const random = randomOf(options.seed);
  const usedAtMs: number[] = [];
  const waitsMs: number[] = [];
  const triesAt = new Map<number, number>();
  let tooEarly = 0;
  for (let round = 0; round < rounds; round++) {
    const publishedAtMs = round * everyMs;
    const waiting = Array.from({ length: options.sites }, (): Site => {
      return { publishedAtMs, nextTryMs: publishedAtMs, attempt: 1, state: newState(publishedAtMs) };
    });
    while (waiting.length > 0) {
      const site = waiting.reduce((first, other) => (other.nextTryMs < first.nextTryMs ? other : first));
      const nowMs = site.nextTryMs;
      triesAt.set(nowMs, (triesAt.get(nowMs) ?? 0) + 1);
      const { allowed, resetSeconds } = decideUse({ uses: perHour, windowMs: HOUR_MS }, usedAtMs, nowMs);
      if (allowed) {
        usedAtMs.push(nowMs);
        waitsMs.push(nowMs - site.publishedAtMs);
        waiting.splice(waiting.indexOf(site), 1);
        continue;
      }
      const retryAfterMs = resetSeconds * 1000;
      if (retryAfterMs <= SHORT_WAIT_MS) {
        site.nextTryMs = nowMs + spreadMs(retryAfterMs, site.attempt++, random());
      } else {
        const failure = { type: 'RateLimited', message: 'limit', status: 429, retryAfterMs } as const;
        const restMs = spreadMs(retryAfterMs, failuresInARow(site.state), random());
        startBackOff(site.state, failure, nowMs, restMs);
        Object.assign(site, { nextTryMs: site.state.backOff?.untilMs, attempt: 1 });
      }
      if (site.nextTryMs < nowMs + retryAfterMs) tooEarly++;
    }
  }
  const later = [...triesAt].filter(([atMs]) => atMs % Math.max(everyMs, 1) !== 0 || (everyMs === 0 && atMs > 0));
  return { waitsMs, tooEarly, atOnce: Math.max(0, ...later.map(([, tries]) => tries)) };
}

const hours = (waitsMs: readonly number[]): number => Math.max(...waitsMs) / HOUR_MS;

describe('200 sites that share the limit of their organization', () => {
  // `idealHours`: the wait of the last site if every free slot were used at once.
  it.each([
    { perHour: 60, idealHours: 3 },
    { perHour: 100, idealHours: 1 },
    { perHour: 10, idealHours: 19 },
  ])('all start within 1.25 times the ideal time: $perHour an hour', ({ perHour, idealHours }) => {
    for (let seed = 1; seed <= 10; seed++) {
      const { waitsMs, tooEarly, atOnce } = simulate({ sites: 200, perHour, seed });
      expect(waitsMs).toHaveLength(200);
      expect(hours(waitsMs)).toBeGreaterThanOrEqual(idealHours);
      expect(hours(waitsMs)).toBeLessThan(1.25 * idealHours);
      expect(tooEarly).toBe(0);
      // Without jitter all of them would retry in the same millisecond.
      expect(atOnce).toBeLessThan(10);
    }
  });

  it('all start every time if they are published every four hours for days', () => {
    const { waitsMs } = simulate({ sites: 200, perHour: 60, seed: 1, rounds: 18, everyMs: 4 * HOUR_MS });
    expect(waitsMs).toHaveLength(18 * 200);
    expect(hours(waitsMs)).toBeLessThan(4);
  });
});
