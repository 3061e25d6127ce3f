import { asc, eq, lte } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { discardedObjects } from './schema/discarded-objects.ts';

type DiscardedObject = { key: string; discardedAt: Date };

/** The keys and folders to delete now, at most `limit`. */
export async function listDiscarded(
  db: Executor,
  { at, limit }: { at: Date; limit: number },
): Promise<DiscardedObject[]> {
  return db
    .select({ key: discardedObjects.key, discardedAt: discardedObjects.discardedAt })
    .from(discardedObjects)
    .where(lte(discardedObjects.dueAt, at))
    .orderBy(asc(discardedObjects.dueAt))
    .limit(limit);
}

export async function forgetDiscarded(db: Executor, key: string): Promise<void> {
  await db.delete(discardedObjects).where(eq(discardedObjects.key, key));
}

export async function postponeDiscarded(db: Executor, key: string, dueAt: Date): Promise<void> {
  await db.update(discardedObjects).set({ dueAt }).where(eq(discardedObjects.key, key));
}
