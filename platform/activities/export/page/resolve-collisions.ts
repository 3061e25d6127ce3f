/** `sha256` of the stored bytes: two addresses with one path and one content share the file. */
export type PathClaim = { url: string; path: string; sha256: string };

/**
 * Settles paths that can't stand beside each other on every file system: equal, equal but for case or Unicode form, or
 * a file where another needs a folder. The claims' order doesn't matter (the lowest address keeps its path, and the
 * not-found page always); others get a hash of their address in the name. Returns the final path by url.
 */
export function resolveCollisions(_claims: readonly PathClaim[]): Map<string, string> {
  throw new Error('not built yet');
}
