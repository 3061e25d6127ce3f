/**
 * For servers written in Go, as part of their environment: memory may grow to five times of what is in use before it is
 * collected, instead of twice. Theirs is small in tests, and collecting takes a good part of their processor time.
 */
export const LESS_COLLECTING = { GOGC: '400' } as const;
