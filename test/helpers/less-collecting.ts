/**
 * Environment for servers written in Go: the heap may grow to five times the live memory before a garbage collection,
 * instead of twice. Their heaps are small in tests, and the collections take much processor time.
 */
export const LESS_COLLECTING = { GOGC: '400' } as const;
