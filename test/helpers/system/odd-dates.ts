/** The same instant (milliseconds since 1970) as RFC 3339 lets services write it. */
export const RFC_3339_SPELLINGS: readonly ((atMs: number) => string)[] = [
  (atMs) => new Date(atMs).toISOString(),
  // Lower case, as RFC 3339 section 5.6 allows.
  (atMs) => new Date(atMs).toISOString().toLowerCase(),
  // A space for the T, "for the sake of readability", and no fraction.
  (atMs) => new Date(atMs).toISOString().replace('T', ' ').replace(/\.\d+/, ''),
  // Nanoseconds.
  (atMs) => new Date(atMs).toISOString().replace('Z', '123456Z'),
  // Another zone.
  (atMs) => new Date(atMs + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30'),
  // A zone that isn't known.
  (atMs) => new Date(atMs).toISOString().replace('Z', '-00:00'),
];
