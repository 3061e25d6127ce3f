import { sql } from 'drizzle-orm';
import { type GarbageContext, type GarbageOfJob, namedItems } from './garbage.ts';

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
