import { deleteEach } from '../../objects/delete-each.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import type { AgentRunKey } from '../../store/agent-runs.ts';
import { packPrefix } from './object-keys.ts';

/** Deletes the run's packs. Its log stays. */
export async function forgetPacks(objects: ObjectStore, { jobId, run }: AgentRunKey): Promise<void> {
  await deleteEach(objects, objects.list(packPrefix(jobId, run)));
}
