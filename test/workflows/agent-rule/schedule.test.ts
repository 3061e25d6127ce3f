import { addStart, dueOf, MAX_QUIET_PERIODS } from '../../../workflows/agent-rule/schedule.ts';
import fc from '../../helpers/fast-check.ts';

const HOUR_MS = 3_600_000;

describe('the time of a prompt', () => {
  it('is a quiet period after the newest event', () => {
    const waiting = { firstAtMs: 1_000, lastAtMs: 5_000 };
    expect(dueOf(waiting, [], { quietPeriodMs: 3_000, maxPerHour: 6 })).toEqual({ atMs: 8_000, limited: false });
  });

  it('is at once without a quiet period', () => {
    const waiting = { firstAtMs: 1_000, lastAtMs: 5_000 };
    expect(dueOf(waiting, [], { quietPeriodMs: 0, maxPerHour: 6 })).toEqual({ atMs: 1_000, limited: false });
  });

  it('is an hour after the start that exhausts the limit', () => {
    const waiting = { firstAtMs: 10_000, lastAtMs: 10_000 };
    const settings = { quietPeriodMs: 1_000, maxPerHour: 2 };
    expect(dueOf(waiting, [1, 2, 3], settings)).toEqual({ atMs: 2 + HOUR_MS, limited: true });
    expect(dueOf(waiting, [3], settings)).toEqual({ atMs: 11_000, limited: false });
    expect(dueOf({ firstAtMs: HOUR_MS, lastAtMs: HOUR_MS }, [2, 3], settings).limited).toBe(false);
  });

  it('is at most ten quiet periods after the first event', () => {
    const times = fc.record({ firstAtMs: fc.nat(1e6), moreMs: fc.nat(1e7), quietPeriodMs: fc.nat(1e6) });
    fc.assert(
      fc.property(times, ({ firstAtMs, moreMs, quietPeriodMs }) => {
        const { atMs } = dueOf({ firstAtMs, lastAtMs: firstAtMs + moreMs }, [], { quietPeriodMs, maxPerHour: 1 });
        expect(atMs).toBeLessThanOrEqual(firstAtMs + MAX_QUIET_PERIODS * quietPeriodMs);
        expect(atMs).toBeGreaterThanOrEqual(
          Math.min(firstAtMs + moreMs, firstAtMs + MAX_QUIET_PERIODS * quietPeriodMs),
        );
      }),
    );
  });

  it('allows at most the configured number of starts within any hour', () => {
    const arrivals = fc.array(fc.nat(20 * 60_000), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 8 }), fc.nat(10 * 60_000), (gaps, maxPerHour, quietPeriodMs) => {
        let nowMs = 0;
        let kept: number[] = [];
        const all: number[] = [];
        for (const gapMs of gaps) {
          nowMs += gapMs;
          nowMs = Math.max(
            nowMs,
            dueOf({ firstAtMs: nowMs, lastAtMs: nowMs }, kept, { quietPeriodMs, maxPerHour }).atMs,
          );
          kept = addStart(kept, nowMs);
          all.push(nowMs);
          const [oldest] = all.slice(-maxPerHour - 1);
          if (all.length > maxPerHour) expect(nowMs - (oldest ?? 0)).toBeGreaterThanOrEqual(HOUR_MS);
        }
        expect(kept.length).toBeLessThanOrEqual(maxPerHour);
      }),
    );
  });
});
