/** Answers what was read for a key, or reads it. */
export type RecentReadings<Key, Value> = (key: Key, read: () => Promise<Value>) => Promise<Value>;

/**
 * Keeps up to `max` readings for those who ask again, also while they are under way; the one asked for longest ago is
 * dropped first. One that failed is dropped at once, so that whoever asks next tries anew.
 */
export function createRecentReadings<Key, Value>(max: number): RecentReadings<Key, Value> {
  // A Map keeps its order of insertion, so the first key is the one used longest ago.
  const readings = new Map<Key, Promise<Value>>();

  return (key, read) => {
    const known = readings.get(key);
    const reading = known ?? read();
    readings.delete(key);
    readings.set(key, reading);
    if (known === undefined) reading.catch(() => readings.delete(key));
    for (const oldest of readings.keys()) {
      if (readings.size <= max) break;
      readings.delete(oldest);
    }
    return reading;
  };
}
