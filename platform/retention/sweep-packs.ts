import { AGENT_FOLDER } from '../activities/agent/object-keys.ts';
import { packsOfEndedRuns } from '../store/agent-runs.ts';
import { addGarbage, batches, type GarbageContext, type GarbageOfJob, NO_GARBAGE, takeObjects } from './garbage.ts';
import { SWEEP_AFTER_MS } from './sweep-exports.ts';

/** Deletes the packs of agent runs that ended a while ago, which a worker left that died or couldn't delete them. */
export async function sweepPacks(context: GarbageContext): Promise<GarbageOfJob> {
  const { db, objects, at, signal } = context;
  const endedBefore = new Date(at.getTime() - SWEEP_AFTER_MS);
  let swept = NO_GARBAGE;
  for await (const keys of batches(objects.list(AGENT_FOLDER))) {
    signal.throwIfAborted();
    swept = addGarbage(swept, await takeObjects(context, await packsOfEndedRuns(db, keys, endedBefore)));
  }
  return swept;
}
