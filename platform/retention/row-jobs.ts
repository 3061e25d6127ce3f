import { gt, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { apiKeys } from '../store/schema/api-keys.ts';
import { exportPreviews } from '../store/schema/export-jobs.ts';
import { forgeDeliveries } from '../store/schema/forge-deliveries.ts';
import { auditLog, invitations, sessions, setupLinks, verifications } from '../store/schema/members.ts';
import { idempotencyKeys, usageLog } from '../store/schema/requests.ts';
import { addGarbage, changeRows, type GarbageContext, type GarbageOfJob, NO_GARBAGE } from './garbage.ts';

const DAY_MS = 86_400_000;

/** Longer than the window of any limit. */
const USES_KEPT_MS = DAY_MS;
/** Clocks of processes differ by less. A use further ahead is from a wrong clock and would count until then. */
const CLOCK_ERROR_MS = DAY_MS / 24;
const DELIVERIES_KEPT_MS = 7 * DAY_MS;
/** An owner sees for a while that an invitation has expired. */
const INVITATIONS_KEPT_MS = 30 * DAY_MS;
/** Also of the keys that the audit log names. */
const AUDIT_KEPT_MS = 400 * DAY_MS;

type Rows = { table: PgTable; gone: SQL | undefined };

/** Rows whose time is over, by job. */
const ROW_JOBS = {
  responses: (at) => [{ table: idempotencyKeys, gone: lte(idempotencyKeys.expiresAt, at) }],
  uses: (at) => [
    {
      table: usageLog,
      gone: or(lte(usageLog.usedAt, before(at, USES_KEPT_MS)), gt(usageLog.usedAt, before(at, -CLOCK_ERROR_MS))),
    },
  ],
  deliveries: (at) => [
    {
      table: forgeDeliveries,
      gone: or(
        lt(forgeDeliveries.deliveredAt, before(at, DELIVERIES_KEPT_MS)),
        lt(forgeDeliveries.failedAt, before(at, DELIVERIES_KEPT_MS)),
      ),
    },
  ],
  sessions: (at) => [
    { table: sessions, gone: lte(sessions.expiresAt, at) },
    { table: verifications, gone: lte(verifications.expiresAt, at) },
    { table: setupLinks, gone: lte(setupLinks.expiresAt, at) },
    { table: invitations, gone: lte(invitations.expiresAt, before(at, INVITATIONS_KEPT_MS)) },
  ],
  previews: (at) => [{ table: exportPreviews, gone: lte(exportPreviews.expiresAt, at) }],
  keys: (at) => [
    {
      table: apiKeys,
      gone: or(lt(apiKeys.revokedAt, before(at, AUDIT_KEPT_MS)), lt(apiKeys.expiresAt, before(at, AUDIT_KEPT_MS))),
    },
  ],
  audit: (at) => [{ table: auditLog, gone: lt(auditLog.at, before(at, AUDIT_KEPT_MS)) }],
} satisfies Record<string, (at: Date) => Rows[]>;

function before(at: Date, ms: number): Date {
  return new Date(at.getTime() - ms);
}

/** The jobs that only delete rows. */
export const rowJobs = Object.fromEntries(
  Object.entries(ROW_JOBS).map(([job, rowsAt]) => [
    job,
    async (context: GarbageContext): Promise<GarbageOfJob> => {
      let taken = NO_GARBAGE;
      for (const rows of rowsAt(context.at)) taken = addGarbage(taken, await takeRows(context, rows));
      return taken;
    },
  ]),
);

async function takeRows(context: GarbageContext, { table, gone }: Rows): Promise<GarbageOfJob> {
  const { rows } = await changeRows(context, (tx) =>
    tx.execute<{ count: number; bytes: number }>(sql`
      with taken as (delete from ${table} where ${gone} returning pg_column_size(${table}.*) as bytes)
      select count(*)::integer as count, coalesce(sum(bytes), 0)::float8 as bytes from taken`),
  );
  const [{ count, bytes } = { count: 0, bytes: 0 }] = rows;
  return { count, sizeBytes: bytes, items: [] };
}
