export type RecentReadings<Key, Value> = {
  /** What was read for a key, or `read` reads it. */
  of(key: Key, read: () => Promise<Value>): Promise<Value>;
  /** What was read for a key, for those who needn't wait then; undefined where nothing is, or it is on its way. */
  atHand(key: Key): Value | undefined;
};

/**
 * Keeps up to `max` readings for those who ask again, also while they are under way; the one asked for longest ago (by
 * `of`) is dropped first. One that failed is dropped at once, so that whoever asks next tries anew.
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
