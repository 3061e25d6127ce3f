import fc from 'fast-check';
import type { PublishEvent } from '../../../contract/publish-event.ts';
import {
  addPublishes,
  addRequest,
  exportDueAtMs,
  type Pending,
  putBack,
  shouldReplace,
} from '../../../workflows/export-site/debounce.ts';

const settings = { quietPeriodMs: 5_000, maxWaitMs: 60_000 };

function event(id: string): PublishEvent {
  return { source: 's', topic: 't', action: 'publish', id, title: id, url: '', author: '', at: '' };
}

function publishedAt(...times: number[]): Pending {
  const pending = times.reduce<Pending | null>(
    (before, at) => addPublishes(before, { count: 1, newest: event(`at ${at}`) }, at),
    null,
  );
  if (pending === null) throw new Error('no publish');
  return pending;
}

describe('a burst of publishes', () => {
  it('is exported after a quiet period', () => {
    expect(exportDueAtMs(publishedAt(0), settings)).toBe(5_000);
    expect(exportDueAtMs(publishedAt(0, 4_000, 7_000), settings)).toBe(12_000);
  });

  it('that does not end is exported after the longest wait', () => {
    expect(exportDueAtMs(publishedAt(0, 20_000, 40_000, 59_000), settings)).toBe(60_000);
  });

  it('is never due before its newest publish nor later than either limit, whatever its rhythm', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(20_000), { minLength: 1, maxLength: 50 }),
        fc.nat(30_000),
        fc.nat(90_000),
        (waits, quiet, max) => {
          let nowMs = 0;
          const times = waits.map((wait) => {
            nowMs += wait;
            return nowMs;
          });
          const pending = publishedAt(...times);
          const due = exportDueAtMs(pending, { quietPeriodMs: quiet, maxWaitMs: max });
          expect(due).toBeLessThanOrEqual(nowMs + quiet);
          expect(due).toBeLessThanOrEqual((times[0] ?? 0) + max);
          expect(due).toBe(Math.min(nowMs + quiet, (times[0] ?? 0) + max));
          expect(pending).toMatchObject({ count: times.length, newest: { id: `at ${nowMs}` }, oldestAtMs: times[0] });
        },
      ),
    );
  });

  it('is due at once where a person asked, and debounced again where a publish follows', () => {
    expect(exportDueAtMs(addRequest(null, 100), settings)).toBe(100);
    const asked = addRequest(publishedAt(0), 1_000);
    expect(exportDueAtMs(asked, settings)).toBeLessThanOrEqual(1_000);
    const followed = addPublishes(asked, { count: 1, newest: event('b') }, 2_000);
    expect(exportDueAtMs(followed, settings)).toBe(7_000);
    expect(followed).toMatchObject({ count: 2, oldestAtMs: 0 });
  });
});

describe('publishes that are put back', () => {
  it('keep their age beside those that came since, whose newest event wins', () => {
    const back = putBack(publishedAt(0, 1_000), publishedAt(9_000));
    expect(back).toMatchObject({ count: 3, oldestAtMs: 0, firstAtMs: 0, lastAtMs: 9_000, newest: { id: 'at 9000' } });
  });

  it('of a failed export leave a new burst its quiet period', () => {
    const back = putBack({ ...publishedAt(0), immediate: true }, publishedAt(90_000));
    expect(exportDueAtMs(back, settings)).toBe(95_000);
  });

  it('are alone where nothing came since', () => {
    const failed = { ...publishedAt(0), immediate: true };
    expect(putBack(failed, null)).toEqual(failed);
  });
});

describe('replacing a running export', () => {
  const cancel = { whenBusy: 'cancel', maxWaitMs: 60_000 } as const;

  it('happens for a newer publish while the oldest one is young', () => {
    expect(shouldReplace(publishedAt(0), publishedAt(59_999), cancel, 59_999)).toBe(true);
    expect(shouldReplace(publishedAt(0), publishedAt(60_000), cancel, 60_000)).toBe(false);
  });

  it('happens neither without a newer publish nor where publishes queue', () => {
    expect(shouldReplace(publishedAt(0), null, cancel, 1)).toBe(false);
    expect(shouldReplace(publishedAt(0), publishedAt(1), { ...cancel, whenBusy: 'queue' }, 1)).toBe(false);
  });

  it('ends: with a publish every moment some export outlives the longest wait', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 200, maxLength: 200 }), (waits) => {
        let nowMs = 0;
        let running = publishedAt(0);
        for (const wait of waits) {
          nowMs += wait;
          const since = publishedAt(nowMs);
          if (!shouldReplace(running, since, cancel, nowMs)) break;
          running = putBack(running, since);
        }
        expect(nowMs - running.oldestAtMs).toBeLessThan(60_000 + 10_000);
      }),
    );
  });
});
