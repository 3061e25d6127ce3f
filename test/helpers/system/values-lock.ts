import { lock } from 'proper-lockfile';

/** Holds a values file as another writer would, so that a deploy waits. Resolves with what lets go of it. */
export async function holdValuesFile(path: string): Promise<() => Promise<void>> {
  return await lock(path, { realpath: false, stale: 10_000, update: 1_000 });
}
