import { and, asc, gt, lte, type SQL, sql } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { discardedObjects, storeOwner } from './schema/discarded-objects.ts';

export type DiscardedObject = { key: string; discardedAt: Date };

/** Up to `limit` keys and folders to delete now, in the order of their keys, after this one. */
export async function listDiscarded(
  db: Executor,
  { at, after, limit }: { at: Date; after: string; limit: number },
): Promise<DiscardedObject[]> {
  return db
    .select({ key: discardedObjects.key, discardedAt: discardedObjects.discardedAt })
    .from(discardedObjects)
    .where(and(lte(discardedObjects.dueAt, at), gt(discardedObjects.key, after)))
    .orderBy(asc(discardedObjects.key))
    .limit(limit);
}

/** Has the objects deleted from `dueAt` on. Does nothing for those that are discarded already. */
export async function discardObjects(
  db: Executor,
  keys: readonly string[],
  { at, dueAt }: { at: Date; dueAt: Date },
): Promise<void> {
  if (keys.length === 0) return;
  await db.execute(sql`
    insert into discarded_objects (key, discarded_at, due_at)
    select distinct key, ${at.toISOString()}::timestamptz, ${dueAt.toISOString()}::timestamptz from ${listed(keys)}
    on conflict (key) do nothing`);
}

export async function forgetDiscarded(db: Executor, keys: readonly string[]): Promise<void> {
  await db.execute(sql`delete from discarded_objects where key = any(${sql.param(keys)}::text[])`);
}

export async function postponeDiscarded(db: Executor, key: string, dueAt: Date): Promise<void> {
  await db.execute(sql`update discarded_objects set due_at = ${dueAt.toISOString()} where key = ${key}`);
}

/** Those of the keys that a row names: by key, or by the job whose folder they are in. */
export async function namedObjects(db: Executor, keys: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.execute<{ key: string }>(sql`
    select key from ${listed(keys)} where
      exists (select from export_jobs where archive_key = key)
      or exists (select from export_jobs where report_key = key)
      or exists (select from agent_runs where log_key = key or outcome_pack_key = key)`);
  return new Set(rows.map(({ key }) => key));
}

/** Those of the keys that neither a row nor a job with that folder owns, and that aren't discarded yet. */
export async function ownerlessObjects(db: Executor, keys: readonly string[]): Promise<string[]> {
  const named = await namedObjects(db, keys);
  const { rows } = await db.execute<{ key: string }>(sql`
    select key from ${listed(keys)} where
      not exists (select from export_jobs where id = split_part(key, '/', 2))
      and not exists (select from agent_jobs where id = split_part(key, '/', 2))
      and not exists (select from discarded_objects discarded where discarded.key = keys.key)`);
  return rows.map(({ key }) => key).filter((key) => !named.has(key));
}

function listed(keys: readonly string[]): SQL {
  return sql`unnest(${sql.param(keys)}::text[]) as keys (key)`;
}

/** The id with which this database marks its object store. */
export async function storeOwnerId(db: Executor): Promise<string> {
  await db.insert(storeOwner).select(sql`select gen_random_uuid()::text where not exists (select from store_owner)`);
  const [row] = await db.select().from(storeOwner).limit(1);
  if (row === undefined) throw new Error('The database has no id for its object store');
  return row.id;
}
