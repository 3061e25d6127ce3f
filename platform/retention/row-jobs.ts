import { gt, lt, lte, or, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { forgeDeliveries } from '../store/schema/forge-deliveries.ts';
import { auditLog, invitations, sessions, setupLinks, verifications } from '../store/schema/members.ts';
import { idempotencyKeys, usageLog } from '../store/schema/requests.ts';
import type { GarbageContext, GarbageOfJob } from './garbage.ts';

const DAY_MS = 86_400_000;

/** Longer than the window of any limit. */
const USES_KEPT_MS = DAY_MS;
/** Clocks of processes differ by less. A use further ahead is from a wrong clock and would count until then. */
const CLOCK_ERROR_MS = DAY_MS / 24;
const DELIVERIES_KEPT_MS = 7 * DAY_MS;
/** An owner sees for a while that an invitation has expired. */
const INVITATIONS_KEPT_MS = 30 * DAY_MS;
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
  audit: (at) => [{ table: auditLog, gone: lt(auditLog.at, before(at, AUDIT_KEPT_MS)) }],
} satisfies Record<string, (at: Date) => Rows[]>;

function before(at: Date, ms: number): Date {
  return new Date(at.getTime() - ms);
}

/** The jobs that only delete rows. */
export const rowJobs = Object.fromEntries(
  Object.entries(ROW_JOBS).map(([job, rowsAt]) => [
    job,
    async ({ db, at, dryRun }: GarbageContext): Promise<GarbageOfJob> => {
      let count = 0;
      for (const { table, gone } of rowsAt(at)) {
        count += dryRun ? await db.$count(table, gone) : ((await db.delete(table).where(gone)).rowCount ?? 0);
      }
      return { count, sizeBytes: null, items: [] };
    },
  ]),
);
