import { and, eq, sql } from 'drizzle-orm';
import type { Database, Executor } from './database.ts';
import { lockUntilCommit } from './locks.ts';
import { forgeDeliveries } from './schema/forge-deliveries.ts';

export type DeliveryRow = typeof forgeDeliveries.$inferSelect;

export type NewDelivery = Pick<DeliveryRow, 'id' | 'projectId' | 'event' | 'bodyJson'>;

/** Puts a delivery in the outbox. Call it in the transaction of the change that it reports. */
export async function insertDelivery(db: Executor, delivery: NewDelivery): Promise<void> {
  await db.insert(forgeDeliveries).values(delivery);
}

/**
 * Leases the oldest due delivery, skipping projects that have one being sent: so a project gets its events in order
 * unless one is retried. Undefined if none is due.
 */
export async function leaseDelivery(
  db: Database,
  { token, leaseMs }: { token: string; leaseMs: number },
): Promise<DeliveryRow | undefined> {
  return await db.transaction(async (tx) => {
    // The lock serializes processes, because two would not see what the other just leased. Times are stored in whole
    // milliseconds, so a new delivery's time may be rounded up into the future.
    await lockUntilCommit(tx, 'forge-deliveries');
    const [row] = await tx
      .update(forgeDeliveries)
      .set({ leaseToken: token, leaseUntil: sql`now() + make_interval(secs => ${leaseMs / 1000}::float8)` })
      .where(
        sql`${forgeDeliveries.id} = (
          select due.id from forge_deliveries due
          where due.delivered_at is null and due.failed_at is null
            and due.next_attempt_at <= now() + interval '1 millisecond'
            and (due.lease_until is null or due.lease_until < now())
            and not exists (select from forge_deliveries busy where busy.project_id = due.project_id
              and busy.delivered_at is null and busy.failed_at is null and busy.lease_until >= now())
          order by due.sequence limit 1)`,
      )
      .returning();
    return row;
  });
}

export type AttemptEnd =
  | { kind: 'delivered' }
  | { kind: 'failed'; error: string }
  | { kind: 'again'; error: string; delayMs: number };

/** Records an attempt's result. Does nothing if the lease was lost: its new holder records the result. */
export async function settleDelivery(
  db: Executor,
  { id, token, end }: { id: string; token: string; end: AttemptEnd },
): Promise<void> {
  await db
    .update(forgeDeliveries)
    .set({
      attemptCount: sql`${forgeDeliveries.attemptCount} + 1`,
      leaseToken: null,
      leaseUntil: null,
      ...(end.kind === 'delivered' && { deliveredAt: sql`now()`, lastError: null }),
      ...(end.kind === 'failed' && { failedAt: sql`now()`, lastError: end.error }),
      ...(end.kind === 'again' && {
        nextAttemptAt: sql`now() + make_interval(secs => ${end.delayMs / 1000}::float8)`,
        lastError: end.error,
      }),
    })
    .where(and(eq(forgeDeliveries.id, id), eq(forgeDeliveries.leaseToken, token)));
}
