import type { Logger } from 'pino';
import { BUNDLES_FOLDER, REPORTS_FOLDER, WORK_FOLDER } from '../../exporter/object-keys.ts';
import { AGENT_FOLDER } from '../activities/agent/object-keys.ts';
import { discardObjects, ownerlessObjects, storeOwnerId } from '../store/discarded-objects.ts';
import { addGarbage, batches, foundObjects, type GarbageContext, type GarbageOfJob, NO_GARBAGE } from './garbage.ts';

export const OWNERS_FOLDER = 'owners/';

/**
 * Time to notice a wrong database, such as a restored backup that is older than the store: afterwards the objects that it
 * doesn't know are deleted.
 */
export const OWNERLESS_MS = 7 * 86_400_000;

/**
 * Marks objects that nothing in the database leads to: a worker died before it stored their key, or the database is an
 * older backup. `deleteDiscarded` deletes them a week later, unless they have an owner by then. Marks nothing if another
 * database has marked the store as its own.
 */
export async function discardOwnerless(context: GarbageContext & { logger: Logger }): Promise<GarbageOfJob> {
  const { db, objects, at, dryRun, signal, logger } = context;
  const own = `${OWNERS_FOLDER}${await storeOwnerId(db)}`;
  for await (const owner of objects.list(OWNERS_FOLDER)) {
    if (owner === own) continue;
    logger.warn({ owner }, 'Another database owns the object store, so no objects without an owner are deleted');
    return NO_GARBAGE;
  }
  if (!dryRun) await objects.put(own, Buffer.from(at.toISOString()), { contentType: 'text/plain' });

  const dueAt = new Date(at.getTime() + OWNERLESS_MS);
  let found = NO_GARBAGE;
  for (const folder of [BUNDLES_FOLDER, REPORTS_FOLDER, AGENT_FOLDER, WORK_FOLDER]) {
    for await (const keys of batches(objects.list(folder))) {
      signal.throwIfAborted();
      const ownerless = await ownerlessObjects(db, keys);
      if (!dryRun) await discardObjects(db, ownerless, { at, dueAt });
      found = addGarbage(found, await foundObjects(context, ownerless));
    }
  }
  return found;
}
