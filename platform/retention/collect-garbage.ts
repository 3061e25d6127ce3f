import { sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import { z } from 'zod';
import { BUNDLES_FOLDER, REPORTS_FOLDER, WORK_FOLDER } from '../../exporter/object-keys.ts';
import { AGENT_FOLDER } from '../activities/agent/object-keys.ts';
import { dropUnfinished } from '../objects/drop-unfinished.ts';
import { packsOfEndedRuns } from '../store/agent-runs.ts';
import { discardObjects, ownerlessObjects, storeOwnerId } from '../store/discarded-objects.ts';
import { deleteDiscarded } from './delete-discarded.ts';
import { expireAgentLogs, expireExports } from './expire.ts';
import {
  addGarbage,
  batches,
  foundObjects,
  type Garbage,
  type GarbageContext,
  type GarbageOfJob,
  garbage,
  NO_GARBAGE,
  namedItems,
  takeObjects,
} from './garbage.ts';
import { rowJobs } from './row-jobs.ts';
import { SWEEP_AFTER_MS, sweepExports } from './sweep-exports.ts';

export const collectGarbageRequest = z.strictObject({ dryRun: z.boolean() });
export const collectedGarbage = z.object({ dryRun: z.boolean(), jobs: z.array(garbage) });
export type CollectedGarbage = z.infer<typeof collectedGarbage>;

/** No activity that uploads may take longer than a quarter of this. */
const UPLOAD_MS = 86_400_000;

type Context = GarbageContext & { logger: Logger };

/** The jobs in their order: the first ones hand objects to `discarded`. docs/operate/retention.md names each. */
export const GARBAGE_JOBS: Record<string, (context: Context) => Promise<GarbageOfJob>> = {
  exports: expireExports,
  'agent-logs': expireAgentLogs,
  ...rowJobs,
  leftovers: async (context) => addGarbage(await sweepExports(context), await sweepPacks(context)),
  ownerless: discardOwnerless,
  discarded: deleteDiscarded,
  uploads: async ({ objects, logger, at, dryRun }) => {
    const begunBefore = new Date(at.getTime() - UPLOAD_MS);
    const prefixes = [WORK_FOLDER, BUNDLES_FOLDER];
    const { items, sizeBytes } = await dropUnfinished({ objects, logger }, { prefixes, begunBefore, dryRun });
    return namedItems(items, sizeBytes);
  },
  vacuum,
};

/**
 * Runs all jobs that delete what is no longer kept, or finds what they would delete. Each job is idempotent, so any
 * number of processes may do so at once. A failed job doesn't keep the others from running.
 */
export async function collectGarbage(context: Context): Promise<CollectedGarbage> {
  const { dryRun, signal, logger } = context;
  const jobs: Garbage[] = [];
  const failures: unknown[] = [];
  for (const [job, run] of Object.entries(GARBAGE_JOBS)) {
    signal.throwIfAborted();
    try {
      const { count, ...found } = await run(context);
      jobs.push({ job, count, ...found });
      if (count > 0 && !dryRun) logger.info({ job, count }, 'Deleted what is no longer kept');
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return { dryRun, jobs };
}

/** Deletes the packs of agent runs that ended a while ago, which a worker left that died or couldn't delete them. */
async function sweepPacks(context: GarbageContext): Promise<GarbageOfJob> {
  const { db, objects, at, signal } = context;
  const endedBefore = new Date(at.getTime() - SWEEP_AFTER_MS);
  let swept = NO_GARBAGE;
  for await (const keys of batches(objects.list(AGENT_FOLDER))) {
    signal.throwIfAborted();
    swept = addGarbage(swept, await takeObjects(context, await packsOfEndedRuns(db, keys, endedBefore)));
  }
  return swept;
}

/** Fewer dead rows aren't worth the work. */
const MIN_DEAD_ROWS = 1_000;

/**
 * Makes the space of deleted rows usable again, of tables that have more dead rows than live ones. PostgreSQL does so
 * itself long before that; the embedded database has no autovacuum, and would grow with each export.
 */
export async function vacuum({
  db,
  dryRun,
  signal,
}: Pick<GarbageContext, 'db' | 'dryRun' | 'signal'>): Promise<GarbageOfJob> {
  const { rows } = await db.execute<{ table: string; bytes: number }>(sql`
    select relname as table,
      (pg_table_size(relid) * n_dead_tup / (n_dead_tup + n_live_tup))::float8 as bytes
    from pg_stat_user_tables
    where n_dead_tup >= ${MIN_DEAD_ROWS} and n_dead_tup > n_live_tup
    order by relname`);
  for (const { table } of rows) {
    signal.throwIfAborted();
    if (!dryRun) await db.execute(sql`vacuum (analyze, skip_locked) ${sql.identifier(table)}`);
  }
  return namedItems(
    rows.map(({ table }) => table),
    rows.reduce((sum, { bytes }) => sum + bytes, 0),
  );
}

export const OWNERS_FOLDER = 'owners/';

/**
 * Time to notice a wrong database, such as a restored backup that is older than the store: afterwards the objects that it
 * doesn't know are deleted.
 */
const OWNERLESS_MS = 7 * 86_400_000;

/**
 * Marks objects that nothing in the database leads to: a worker died before it stored their key, or the database is an
 * older backup. `deleteDiscarded` deletes them a week later, unless they have an owner by then. Marks nothing if another
 * database has marked the store as its own.
 */
async function discardOwnerless(context: GarbageContext & { logger: Logger }): Promise<GarbageOfJob> {
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
