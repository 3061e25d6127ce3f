import { DIGITS, hash64 } from './hash64.ts';

/**
 * Remembers deliveries, to detect resends. A serialized id takes 13 characters: 11 for its 64-bit hash and 2 for the second
 * within the hour, which is exact enough for a window of a minute.
 */

/** The oldest are dropped first. */
export const MAX_SEEN = 20_000;

/** No vendor resends after this time. */
const KEPT_MS = 7 * 24 * 3_600_000;

const HOUR_MS = 3_600_000;
const HASH_CHARACTERS = 11;
const ENTRY_CHARACTERS = HASH_CHARACTERS + 2;

/** The deliveries of one hour, counted since 1970, as concatenated entries. */
export type SeenBucket = { hour: number; entries: string };

export type SeenDeliveries = {
  /** Records a delivery. Returns whether the same source sent the same id within the last `dedupeMs`. */
  isResend(delivery: { id: string; source: string; dedupeMs: number }, atMs: number): boolean;
  /** Whether the same source sent the same id before, at any time. */
  has(delivery: { id: string; source: string }): boolean;
  /** The newest `limit` ids in hourly buckets, oldest first. */
  toBuckets(limit?: number): SeenBucket[];
};

export function createSeenDeliveries(restored: readonly SeenBucket[] = []): SeenDeliveries {
  const seenAtSecond = new Map<string, number>(restored.flatMap(entriesOf));
  // Kept between deliveries: a new iterator would skip all deleted entries again, which is slow in a burst.
  let fromOldest = seenAtSecond.entries();
  let oldest = fromOldest.next();

  function forgetOld(nowMs: number): void {
    if (oldest.done) {
      fromOldest = seenAtSecond.entries();
      oldest = fromOldest.next();
    }
    while (!oldest.done) {
      const [hash, second] = oldest.value;
      if (seenAtSecond.size <= MAX_SEEN && nowMs - second * 1000 <= KEPT_MS) return;
      seenAtSecond.delete(hash);
      oldest = fromOldest.next();
    }
  }

  return {
    has: (delivery) => seenAtSecond.has(hashOf(delivery)),
    isResend(delivery, atMs) {
      const { dedupeMs } = delivery;
      const hash = hashOf(delivery);
      const second = seenAtSecond.get(hash);
      // A resend through another host may arrive first, so the difference may be negative.
      if (second !== undefined && dedupeMs > 0 && Math.abs(atMs - second * 1000) <= dedupeMs) return true;
      if (oldest.value?.[0] === hash) oldest = fromOldest.next();
      seenAtSecond.delete(hash);
      seenAtSecond.set(hash, Math.floor(atMs / 1000));
      forgetOld(atMs);
      return false;
    },
    toBuckets(limit = MAX_SEEN) {
      const buckets: SeenBucket[] = [];
      for (const [hash, second] of [...seenAtSecond].slice(-limit)) {
        const hour = Math.floor(second / 3600);
        const last = buckets.at(-1);
        const entry = hash + encodeSecond(second - hour * 3600);
        if (last?.hour === hour) last.entries += entry;
        else buckets.push({ hour, entries: entry });
      }
      return buckets;
    },
  };
}

function hashOf({ id, source }: { id: string; source: string }): string {
  return hash64(`${source}\n${id}`);
}

/** Validates the entries of a serialized bucket. */
export function isWholeBucket(bucket: SeenBucket): boolean {
  return bucket.entries.length % ENTRY_CHARACTERS === 0;
}

function entriesOf({ hour, entries }: SeenBucket): [string, number][] {
  return Array.from({ length: entries.length / ENTRY_CHARACTERS }, (_, index) => {
    const entry = entries.slice(index * ENTRY_CHARACTERS, (index + 1) * ENTRY_CHARACTERS);
    return [entry.slice(0, HASH_CHARACTERS), (hour * HOUR_MS) / 1000 + decodeSecond(entry.slice(HASH_CHARACTERS))];
  });
}

function encodeSecond(second: number): string {
  return `${DIGITS[second >> 6] ?? 'A'}${DIGITS[second & 63] ?? 'A'}`;
}

function decodeSecond(text: string): number {
  return DIGITS.indexOf(text[0] ?? 'A') * 64 + DIGITS.indexOf(text[1] ?? 'A');
}
