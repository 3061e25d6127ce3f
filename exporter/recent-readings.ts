import { LRUCache } from 'lru-cache';

export type RecentReadings<Key, Value> = {
  /** The cached value of a key, or a new one from `read`. */
  of(key: Key, read: () => Promise<Value>): Promise<Value>;
  /** The value of a key without waiting; undefined if it isn't cached or not complete yet. */
  atHand(key: Key): Value | undefined;
};

/**
 * Caches up to `max` reads, also while they are pending. Drops the least recently used (by `of`) first, and a failed
 * one immediately, so that the next call reads again.
 */
export function createRecentReadings<Key extends string | number, Value extends NonNullable<unknown>>(
  max: number,
): RecentReadings<Key, Value> {
  const readings = new LRUCache<Key, Value, () => Promise<Value>>({
    max,
    fetchMethod: (_key, _stale, { context: read }) => read(),
    // A pending read that is dropped still has callers.
    ignoreFetchAbort: true,
  });
  return {
    of: (key, read) => readings.forceFetch(key, { context: read }),
    atHand: (key) => readings.peek(key),
  };
}
