import type { ObjectStore } from '../../objects/object-store.ts';
import type { AgentRunKey } from '../../store/agent-runs.ts';
import { packPrefix } from './object-keys.ts';

/** Deletes the run's packs. Its log stays. */
export async function forgetPacks(objects: ObjectStore, { jobId, run }: AgentRunKey): Promise<void> {
  const keys: string[] = [];
  for await (const key of objects.list(packPrefix(jobId, run))) keys.push(key);
  if (keys.length > 0) await objects.delete(keys);
}
