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
export function createRecentReadings<Key, Value>(max: number): RecentReadings<Key, Value> {
  // A Map keeps its order of insertion, so the first key is the one used longest ago.
  const readings = new Map<Key, { reading: Promise<Value>; value?: Value }>();

  function begin(key: Key, read: () => Promise<Value>): { reading: Promise<Value> } {
    const begun: { reading: Promise<Value>; value?: Value } = { reading: read() };
    begun.reading.then(
      (value) => {
        begun.value = value;
      },
      () => readings.delete(key),
    );
    return begun;
  }

  return {
    of(key, read) {
      const entry = readings.get(key) ?? begin(key, read);
      readings.delete(key);
      readings.set(key, entry);
      for (const oldest of readings.keys()) {
        if (readings.size <= max) break;
        readings.delete(oldest);
      }
      return entry.reading;
    },
    atHand: (key) => readings.get(key)?.value,
  };
}
