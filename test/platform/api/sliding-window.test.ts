import { decideUse } from '../../../platform/api/sliding-window.ts';
import fc from '../../helpers/fast-check.ts';

const limit = { uses: 3, windowMs: 60_000 };

describe('a limit over a sliding window', () => {
  it('counts down and reports when the next slot becomes free', () => {
    expect(decideUse(limit, [], 0)).toEqual({ allowed: true, remaining: 2, resetSeconds: 60 });
    expect(decideUse(limit, [0, 10_000], 20_000)).toEqual({ allowed: true, remaining: 0, resetSeconds: 40 });
    expect(decideUse(limit, [0, 10_000, 20_000], 20_500)).toEqual({ allowed: false, remaining: 0, resetSeconds: 40 });
    expect(decideUse(limit, [0, 10_000, 20_000], 59_999).allowed).toBe(false);
    expect(decideUse(limit, [0, 10_000, 20_000], 60_000).allowed).toBe(true);
  });

  it('allows the next use exactly after the announced wait, for any earlier uses', () => {
    const uses = fc.array(fc.integer({ min: 0, max: 120_000 }), { maxLength: 12 });
    fc.assert(
      fc.property(uses, fc.integer({ min: 120_000, max: 200_000 }), (given, atMs) => {
        const sorted = given.sort((a, b) => a - b);
        const { allowed, resetSeconds } = decideUse(limit, sorted, atMs);
        if (allowed) return;
        const freedAtMs = atMs + resetSeconds * 1000;
        expect(decideUse(limit, sorted, freedAtMs).allowed).toBe(true);
        // The wait is rounded up to a whole second, so it is at most one second too long.
        expect(decideUse(limit, sorted, Math.max(atMs, freedAtMs - 1001)).allowed).toBe(false);
      }),
    );
  });
});
