import type { ObjectStore } from './objects/object-store.ts';
import type { Database } from './store/database.ts';
import { forgetDiscarded, listDiscarded, postponeDiscarded } from './store/discarded-objects.ts';

const KEYS_PER_DELETE = 500;

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
    deletedCount += isFolder ? await deleteFolder(objects, key) : 1;
    if (!isFolder) await objects.delete([key]);
    const lateAt = new Date(discardedAt.getTime() + lateAfterMs);
    if (isFolder && at < lateAt) await postponeDiscarded(db, key, lateAt);
    else await forgetDiscarded(db, key);
  }
  return deletedCount;
}

async function deleteFolder(objects: ObjectStore, prefix: string): Promise<number> {
  let deletedCount = 0;
  let keys: string[] = [];
  for await (const key of objects.list(prefix)) {
    keys.push(key);
    if (keys.length < KEYS_PER_DELETE) continue;
    await objects.delete(keys);
    deletedCount += keys.length;
    keys = [];
  }
  if (keys.length > 0) await objects.delete(keys);
  return deletedCount + keys.length;
}
