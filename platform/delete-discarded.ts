import { deleteEach } from './objects/delete-each.ts';
import type { ObjectStore } from './objects/object-store.ts';
import type { Database } from './store/database.ts';
import { forgetDiscarded, listDiscarded, postponeDiscarded } from './store/discarded-objects.ts';

/**
 * Deletes the objects that removed projects left, up to a page of keys and folders. A folder is deleted at once and
 * again `lateAfterMs` after its project's removal, because a worker may write to it until then. Idempotent. Returns the
 * number of deleted objects.
 */
export async function deleteDiscarded({
  db,
  objects,
  at,
  lateAfterMs,
  limit,
}: {
  db: Database;
  objects: ObjectStore;
  at: Date;
  lateAfterMs: number;
  limit: number;
}): Promise<number> {
  let deletedCount = 0;
  for (const { key, discardedAt } of await listDiscarded(db, { at, limit })) {
    const isFolder = key.endsWith('/');
    deletedCount += await deleteEach(objects, isFolder ? objects.list(key) : [key]);
    const lateAt = new Date(discardedAt.getTime() + lateAfterMs);
    if (isFolder && at < lateAt) await postponeDiscarded(db, key, lateAt);
    else await forgetDiscarded(db, key);
  }
  return deletedCount;
}
