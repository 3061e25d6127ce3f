import { spreadMs } from '../../../contract/duration.ts';
import { decideUse } from '../../../platform/api/sliding-window.ts';
import { newState } from '../../../workflows/export-site/state.ts';
import { failuresInARow, startBackOff } from '../../../workflows/export-site/transitions.ts';

const HOUR_MS = 3_600_000;

/** An activity waits for a Retry-After up to this by itself; a longer one is the workflow's (call-admin-api.ts). */
const SHORT_WAIT_MS = 30_000;

/** Numbers from 0 to 1 that are the same for the same seed. */
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
 * `perHour` starts in any hour and sends the others away until a slot becomes free. The clock jumps from try to try.
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
  // In turn, the last of them would start when as many whole hours have passed as the limit fits into those before it.
  it.each([
    { perHour: 60, inTurn: 3 },
    { perHour: 100, inTurn: 1 },
    { perHour: 10, inTurn: 19 },
  ])('start one after the other, at most a quarter later than in turn: $perHour an hour', ({ perHour, inTurn }) => {
    for (let seed = 1; seed <= 10; seed++) {
      const { waitsMs, tooEarly, atOnce } = simulate({ sites: 200, perHour, seed });
      expect(waitsMs).toHaveLength(200);
      expect(hours(waitsMs)).toBeGreaterThanOrEqual(inTurn);
      expect(hours(waitsMs)).toBeLessThan(1.25 * inTurn);
      expect(tooEarly).toBe(0);
      // Without a spread all of them would come in the same millisecond, again and again.
      expect(atOnce).toBeLessThan(10);
    }
  });

  it('all start again and again, for days, if they are published every four hours', () => {
    const { waitsMs } = simulate({ sites: 200, perHour: 60, seed: 1, rounds: 18, everyMs: 4 * HOUR_MS });
    expect(waitsMs).toHaveLength(18 * 200);
    expect(hours(waitsMs)).toBeLessThan(4);
  });
});

describe('a spread wait', () => {
  it('is never shorter, at most a fifth longer, and shorter after earlier rejections', () => {
    expect([spreadMs(1_000, 1, 0), spreadMs(1_000, 1, 1), spreadMs(1_000, 4, 1)]).toEqual([1_000, 1_200, 1_050]);
  });
});
