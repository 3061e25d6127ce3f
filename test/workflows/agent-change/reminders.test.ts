import fc from 'fast-check';
import { nextReminder } from '../../../workflows/agent-change/reminders.ts';

const DAY_MS = 86_400_000;

describe('reminders', () => {
  it('come at each of their times, and the ones that were missed together count as one', () => {
    const settings = { sinceMs: 1_000, remindAfterMs: [DAY_MS, 2 * DAY_MS, 5 * DAY_MS], doneUpToMs: 0 };
    expect(nextReminder(settings, 1_000)).toEqual({ atMs: 1_000 + DAY_MS, afterMs: DAY_MS });
    expect(nextReminder(settings, 3 * DAY_MS)).toEqual({ atMs: 1_000 + 2 * DAY_MS, afterMs: 2 * DAY_MS });
    expect(nextReminder({ ...settings, doneUpToMs: 2 * DAY_MS }, 3 * DAY_MS)?.afterMs).toBe(5 * DAY_MS);
    expect(nextReminder({ ...settings, doneUpToMs: 5 * DAY_MS }, 9 * DAY_MS)).toBeNull();
    expect(nextReminder({ ...settings, remindAfterMs: [] }, 9 * DAY_MS)).toBeNull();
  });

  it('come once each, in order and never early, however time passes', () => {
    const times = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 8 });
    fc.assert(
      fc.property(times, fc.array(fc.nat(12), { maxLength: 30 }), (days, waits) => {
        const remindAfterMs = days.toSorted((a, b) => a - b);
        const done: number[] = [];
        let nowMs = 0;
        for (const wait of [...waits, 100]) {
          nowMs += wait;
          const next = nextReminder({ sinceMs: 0, remindAfterMs, doneUpToMs: done.at(-1) ?? 0 }, nowMs);
          if (next === null || next.atMs > nowMs) continue;
          expect(next.afterMs).toBeLessThanOrEqual(nowMs);
          done.push(next.afterMs);
        }
        expect(done).toEqual([...new Set(done)].toSorted((a, b) => a - b));
        expect(done.at(-1)).toBe(remindAfterMs.at(-1));
        expect(remindAfterMs).toEqual(expect.arrayContaining(done));
      }),
    );
  });
});
