import { hash64 } from '../../../workflows/deliveries/hash64.ts';
import { createSeenDeliveries, isWholeBucket, MAX_SEEN } from '../../../workflows/deliveries/seen-deliveries.ts';
import fc from '../../helpers/fast-check.ts';

const HOUR_MS = 3_600_000;
const NOON_MS = Date.UTC(2026, 10, 21, 12);

function delivery(id: string, dedupeMs = 24 * HOUR_MS) {
  return { id, source: 'contentful', dedupeMs };
}

describe('seen deliveries', () => {
  it('distinguish a resend from the first delivery and from other deliveries', () => {
    const seen = createSeenDeliveries();
    expect(seen.isResend(delivery('a'), NOON_MS)).toBe(false);
    expect(seen.isResend(delivery('a'), NOON_MS + 1_000)).toBe(true);
    expect(seen.isResend(delivery('b'), NOON_MS + 1_000)).toBe(false);
    expect(seen.isResend({ ...delivery('a'), source: 'github' }, NOON_MS + 1_000)).toBe(false);
  });

  it('count an id again once its window has passed, to the second', () => {
    const seen = createSeenDeliveries();
    const hash = delivery('hash-of-body', 60_000);
    expect(seen.isResend(hash, NOON_MS)).toBe(false);
    expect(seen.isResend(hash, NOON_MS + 60_000)).toBe(true);
    expect(seen.isResend(hash, NOON_MS + 61_000)).toBe(false);
    expect(seen.isResend(hash, NOON_MS + 61_000 + 59_000)).toBe(true);
  });

  it('recognize a resend with an earlier receive time, as two API hosts can produce', () => {
    const seen = createSeenDeliveries();
    seen.isResend(delivery('a', 60_000), NOON_MS);
    expect(seen.isResend(delivery('a', 60_000), NOON_MS - 5_000)).toBe(true);
  });

  it('never treat a delivery without a window as a resend', () => {
    const seen = createSeenDeliveries();
    seen.isResend(delivery('a', 0), NOON_MS);
    expect(seen.isResend(delivery('a', 0), NOON_MS)).toBe(false);
  });

  it('keep at most twenty thousand, and drop the oldest first', () => {
    const seen = createSeenDeliveries();
    for (let index = 0; index < MAX_SEEN + 500; index++) seen.isResend(delivery(`id-${index}`), NOON_MS + index);
    const buckets = seen.toBuckets();
    expect(buckets.reduce((sum, { entries }) => sum + entries.length / 13, 0)).toBe(MAX_SEEN);
    const restored = createSeenDeliveries(buckets);
    expect(restored.isResend(delivery(`id-${MAX_SEEN}`), NOON_MS + HOUR_MS)).toBe(true);
    expect(restored.isResend(delivery('id-3'), NOON_MS + HOUR_MS)).toBe(false);
  });

  it('drop the least recently seen ones, however often others are seen again', () => {
    const seen = createSeenDeliveries();
    // A delivery without a window is always new, and updates its entry.
    const see = (id: number): boolean => seen.isResend(delivery(`id-${id}`, 0), NOON_MS);
    for (let id = 0; id < MAX_SEEN; id++) see(id);
    for (let id = 0; id < MAX_SEEN; id += 2) see(id);
    for (let id = MAX_SEEN; id < MAX_SEEN * 1.5; id++) see(id);
    const kept = Array.from({ length: MAX_SEEN * 1.5 }, (_, id) => id).filter((id) => seen.has(delivery(`id-${id}`)));
    expect(kept).toHaveLength(MAX_SEEN);
    expect(kept.every((id) => id >= MAX_SEEN || id % 2 === 0)).toBe(true);
  });

  it('are the same after continue-as-new', () => {
    const events = fc.array(
      fc.record({
        id: fc.constantFrom(...'abcdefgh'),
        dedupeMs: fc.constantFrom(0, 1_000, 60_000, 24 * HOUR_MS),
        waitMs: fc.constantFrom(0, 500, 30_000, 59_999, HOUR_MS, 30 * HOUR_MS),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(events, fc.nat(60), (list, restoreAt) => {
        const original = createSeenDeliveries();
        let restored = createSeenDeliveries();
        let nowMs = NOON_MS;
        list.forEach(({ id, dedupeMs, waitMs }, index) => {
          // A serialized time has whole seconds, so the comparison is made on whole seconds.
          nowMs += Math.ceil(waitMs / 1_000) * 1_000;
          if (index === restoreAt) restored = createSeenDeliveries(restored.toBuckets());
          expect(restored.toBuckets().every(isWholeBucket)).toBe(true);
          expect(restored.isResend(delivery(id, dedupeMs), nowMs)).toBe(
            original.isResend(delivery(id, dedupeMs), nowMs),
          );
        });
      }),
    );
  });
});

describe('the hash', () => {
  it('never changes, because running workflows keep hashes', () => {
    const texts = ['', 'contentful\nabc', 'standard\nmsg_2b5f0c9e-8a1d'];
    expect(texts.map(hash64)).toEqual(['vDpj8DCHUQH', 'wrPagHG6GoJ', 'LXiU0dINwkG']);
  });

  it('has eleven characters and no two alike among a hundred thousand near texts', () => {
    const hashes = new Set<string>();
    for (let index = 0; index < 100_000; index++) hashes.add(hash64(`delivery-${index}`));
    expect(hashes.size).toBe(100_000);
    expect([...hashes].every((hash) => /^[\w-]{11}$/.test(hash))).toBe(true);
  });

  it('changes in about half of its bits with any one character', () => {
    const bits = (text: string): string =>
      [...hash64(text)].map((letter) => LETTERS.indexOf(letter).toString(2).padStart(6, '0')).join('');
    let changed = 0;
    for (let index = 0; index < 2_000; index++) {
      const [a, b] = [bits(`text ${index} x`), bits(`text ${index} y`)];
      changed += [...a].filter((bit, at) => bit !== b[at]).length;
    }
    expect(changed / 2_000 / 64).toBeGreaterThan(0.4);
    expect(changed / 2_000 / 64).toBeLessThan(0.6);
  });
});

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
