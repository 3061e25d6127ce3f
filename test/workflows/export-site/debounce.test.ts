import {
  addPublishes,
  addRequest,
  exportDueAtMs,
  putBack,
  shouldReplace,
} from '../../../workflows/export-site/schedule.ts';
import type { Pending } from '../../../workflows/export-site/state.ts';
import fc from '../../helpers/fast-check.ts';
import { event, play } from './play-publishes.ts';

const settings = { quietPeriodMs: 5_000, maxWaitMs: 60_000 };

function publishedAt(...times: number[]): Pending {
  const pending = times.reduce<Pending | null>(
    (before, at) => addPublishes(before, { count: 1, newest: event(`at ${at}`) }, at),
    null,
  );
  if (pending === null) throw new Error('No publish was given');
  return pending;
}

/** The times of publishes. */
const momentsMs = fc.array(fc.nat(200_000), { minLength: 1, maxLength: 50 });
const limits = fc.record({ quietPeriodMs: fc.nat(30_000), maxWaitMs: fc.nat(90_000) });

describe('a burst of publishes', () => {
  it.each([
    [[0], 5_000],
    [[0, 4_000, 7_000], 12_000],
    [[0, 20_000, 40_000, 59_000], 60_000],
  ])('at %j is exported at %i', (times, dueAtMs) => {
    expect(exportDueAtMs(publishedAt(...times), settings)).toBe(dueAtMs);
  });

  it('is due a quiet period after its newest publish, but at most maxWait after its first one', () => {
    fc.assert(
      fc.property(momentsMs, limits, (times, own) => {
        const dueAtMs = exportDueAtMs(publishedAt(...times), own);
        const [firstMs, lastMs] = [Math.min(...times), Math.max(...times)];
        expect(dueAtMs).toBeLessThanOrEqual(firstMs + own.maxWaitMs);
        // Only maxWait can shorten the quiet period after the newest publish.
        if (dueAtMs < lastMs + own.quietPeriodMs) expect(dueAtMs).toBe(firstMs + own.maxWaitMs);
        else expect(dueAtMs).toBe(lastMs + own.quietPeriodMs);
      }),
    );
  });

  it('is delayed by a further publish, never brought forward', () => {
    fc.assert(
      fc.property(momentsMs, fc.nat(60_000), limits, (times, laterMs, own) => {
        const pending = publishedAt(...times);
        const later = addPublishes(pending, { count: 1, newest: event('later') }, pending.lastAtMs + laterMs);
        expect(exportDueAtMs(later, own)).toBeGreaterThanOrEqual(exportDueAtMs(pending, own));
      }),
    );
  });

  it('is the same for any order and grouping of its publishes', () => {
    const shuffled = momentsMs.chain((times) =>
      fc.tuple(fc.constant(times), fc.shuffledSubarray(times, { minLength: times.length })),
    );
    fc.assert(
      fc.property(shuffled, ([times, others]) => {
        const { newest: _newest, ...inOrder } = publishedAt(...times);
        const { newest: _other, ...inAnother } = publishedAt(...others);
        expect(inAnother).toEqual(inOrder);
        expect(inOrder.count).toBe(times.length);
        const [atMs = 0] = times;
        const together = addPublishes(null, { count: times.length, newest: event('last') }, atMs);
        const oneByOne = times.map(() => atMs);
        expect({ ...publishedAt(...oneByOne), newest: null }).toEqual({ ...together, newest: null });
      }),
    );
  });

  it('is due at once if a person requested an export, and debounced again after a publish', () => {
    expect(exportDueAtMs(addRequest(null, 100), settings)).toBe(100);
    const requested = addRequest(publishedAt(0), 1_000);
    expect(exportDueAtMs(requested, settings)).toBeLessThanOrEqual(1_000);
    const followed = addPublishes(requested, { count: 1, newest: event('b') }, 2_000);
    expect(exportDueAtMs(followed, settings)).toBe(7_000);
    expect(followed).toMatchObject({ count: 2, oldestAtMs: 0 });
  });
});

describe('publishes that are put back', () => {
  it('keep their age, but the newest event is that of the later publishes', () => {
    const back = putBack(publishedAt(0, 1_000), publishedAt(9_000));
    expect(back).toMatchObject({ count: 3, oldestAtMs: 0, firstAtMs: 0, lastAtMs: 9_000, newest: { id: 'at 9000' } });
  });

  it('do not shorten the quiet period of a new burst if their export failed', () => {
    const back = putBack({ ...publishedAt(0), immediate: true }, publishedAt(90_000));
    expect(exportDueAtMs(back, settings)).toBe(95_000);
  });

  it('are unchanged if there was no later publish', () => {
    const failed = { ...publishedAt(0), immediate: true };
    expect(putBack(failed, null)).toEqual(failed);
  });

  it('keep their count and age, and take the newest event of later publishes', () => {
    fc.assert(
      fc.property(momentsMs, momentsMs, fc.boolean(), (before, after, failed) => {
        const unfinished = { ...publishedAt(...before), immediate: failed };
        const since = publishedAt(...after.map((atMs) => atMs + 200_000));
        const back = putBack(unfinished, since);
        expect(back.count).toBe(before.length + after.length);
        expect(back.oldestAtMs).toBe(Math.min(...before));
        expect(back.lastAtMs).toBe(since.lastAtMs);
        expect(back.newest).toEqual(since.newest);
        // Publishes of a failed export don't shorten the new burst's quiet period. Those of a replaced one keep their start.
        const own = failed ? since : { ...since, firstAtMs: unfinished.firstAtMs };
        expect(exportDueAtMs(back, settings)).toBe(exportDueAtMs(own, settings));
      }),
    );
  });

  it('are due at once if a person requested an export meanwhile', () => {
    fc.assert(
      fc.property(momentsMs, fc.nat(60_000), (before, laterMs) => {
        const unfinished = publishedAt(...before);
        const nowMs = unfinished.lastAtMs + laterMs;
        const back = putBack(unfinished, addRequest(null, nowMs));
        expect(back).toMatchObject({ count: before.length, newest: unfinished.newest, immediate: true });
        expect(exportDueAtMs(back, settings)).toBeLessThanOrEqual(nowMs);
      }),
    );
  });
});

describe('replacing a running export', () => {
  it.each([
    ['cancel', 59_999, 59_999, true],
    ['cancel', 60_000, 60_000, false],
    ['cancel', null, 1, false],
    ['queue', 1, 1, false],
  ] as const)('with %s, a newer publish at %s and the time %i, happens: %s', (whenBusy, newerMs, nowMs, replaced) => {
    const since = newerMs === null ? null : publishedAt(newerMs);
    expect(shouldReplace(publishedAt(0), since, { whenBusy, maxWaitMs: 60_000 }, nowMs)).toBe(replaced);
  });

  it('never starves a publish: each is exported within maxWait, two exports and a quiet period', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 100, maxLength: 400 }),
        fc.integer({ min: 1, max: 120_000 }),
        limits,
        (waits, exportTakesMs, own) => {
          const { finished, lastAtMs } = play(waits, exportTakesMs, { ...own, whenBusy: 'cancel' });
          // Each publish is exported exactly once.
          expect(finished.reduce((sum, { publishes }) => sum + publishes.count, 0)).toBe(waits.length);
          expect(finished.at(-1)?.publishes.newest).toEqual(event(`at ${lastAtMs}`));
          for (const { endedAtMs, publishes } of finished) {
            // A publish waits for at most one other export, which could no longer be replaced.
            const longestMs = own.maxWaitMs + 2 * exportTakesMs + own.quietPeriodMs;
            expect(endedAtMs - publishes.oldestAtMs).toBeLessThanOrEqual(longestMs);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('never happens with queue: each export ends, and later publishes are exported next', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 120_000 }),
        limits,
        (waits, exportTakesMs, own) => {
          const { finished, replaced } = play(waits, exportTakesMs, { ...own, whenBusy: 'queue' });
          expect(replaced).toBe(0);
          expect(finished.reduce((sum, { publishes }) => sum + publishes.count, 0)).toBe(waits.length);
        },
      ),
      { numRuns: 50 },
    );
  });
});
