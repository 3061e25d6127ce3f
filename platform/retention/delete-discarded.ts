import {
  type DiscardedObject,
  forgetDiscarded,
  listDiscarded,
  namedObjects,
  postponeDiscarded,
} from '../store/discarded-objects.ts';
import { addGarbage, type GarbageContext, type GarbageOfJob, NO_GARBAGE, takeObjects } from './garbage.ts';

const PAGE_SIZE = 100;

/** No worker writes for longer than this to the folder of a job that has ended. */
export const LATE_MS = 86_400_000;

/**
 * Deletes the objects of removed projects and expired exports, and those that have had no owner for long enough. One
 * that a row names is kept: two exports may have the same archive. A folder is deleted at once and again a day later,
 * because a worker may still write to it. Idempotent.
 */
export async function deleteDiscarded(context: GarbageContext): Promise<GarbageOfJob> {
  const { db, at, dryRun, signal } = context;
  let taken = NO_GARBAGE;
  for (let after = ''; ; ) {
    signal.throwIfAborted();
    const due = await listDiscarded(db, { at, after, limit: PAGE_SIZE });
    taken = addGarbage(taken, await takeObjects(context, await keysOf(context, due)));
    if (!dryRun) await settle(context, due);
    after = due.at(-1)?.key ?? '';
    if (due.length < PAGE_SIZE) return taken;
  }
}

async function keysOf({ db, objects }: GarbageContext, due: readonly DiscardedObject[]) {
  const named = await namedObjects(
    db,
    due.map(({ key }) => key),
  );
  return (async function* () {
    for (const { key } of due) {
      if (isFolder(key)) yield* objects.list(key);
      else if (!named.has(key)) yield key;
    }
  })();
}

/** What was deleted is forgotten, except a folder that is to be deleted again. */
async function settle({ db, at }: GarbageContext, due: readonly DiscardedObject[]): Promise<void> {
  const done: string[] = [];
  for (const { key, discardedAt } of due) {
    const lateAt = new Date(discardedAt.getTime() + LATE_MS);
    if (isFolder(key) && at < lateAt) await postponeDiscarded(db, key, lateAt);
    else done.push(key);
  }
  await forgetDiscarded(db, done);
}

function isFolder(key: string): boolean {
  return key.endsWith('/');
}
