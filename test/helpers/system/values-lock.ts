import { lock } from 'proper-lockfile';

/** Locks a values file like another writer, so that a deploy waits. Resolves with the function that unlocks it. */
export async function holdValuesFile(path: string): Promise<() => Promise<void>> {
  return await lock(path, { realpath: false, stale: 10_000, update: 1_000 });
}
