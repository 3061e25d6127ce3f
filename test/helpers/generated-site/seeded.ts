/** A number of 32 bits that depends on all of its arguments; the same on every machine. */
export function hash32(...values: readonly number[]): number {
  let state = 0x811c9dc5;
  for (const value of values) {
    state = Math.imul(state ^ value, 0x85ebca6b);
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
    state ^= state >>> 16;
  }
  return state >>> 0;
}

/** The same as a share: at least 0 and below 1. */
export function share(...values: readonly number[]): number {
  return hash32(...values) / 2 ** 32;
}

/** One of them, by the share. */
export function pick<T>(from: readonly T[], by: number): T {
  const found = from[Math.floor(by * from.length)];
  if (found === undefined) throw new Error('Nothing to pick from');
  return found;
}
