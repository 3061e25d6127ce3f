/** A 32-bit hash of all arguments, the same on every machine. */
export function hash32(...values: readonly number[]): number {
  let state = 0x811c9dc5;
  for (const value of values) {
    state = Math.imul(state ^ value, 0x85ebca6b);
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
    state ^= state >>> 16;
  }
  return state >>> 0;
}

/** The same hash, scaled to at least 0 and below 1. */
export function share(...values: readonly number[]): number {
  return hash32(...values) / 2 ** 32;
}

/** The element at this share (0 to 1) of the list. */
export function pick<T>(from: readonly T[], by: number): T {
  const found = from[Math.floor(by * from.length)];
  if (found === undefined) throw new Error('Nothing to pick from');
  return found;
}
