import { and, asc, eq, gt, lte, or } from 'drizzle-orm';
import type { Executor, Transaction } from './database.ts';
import { usageLog } from './schema/requests.ts';

/** The accepted uses of a scope after `since`, oldest first. */
export async function listUses(tx: Transaction, { scope, since }: { scope: string; since: Date }): Promise<Date[]> {
  const rows = await tx
    .select({ usedAt: usageLog.usedAt })
    .from(usageLog)
    .where(and(eq(usageLog.scope, scope), gt(usageLog.usedAt, since)))
    .orderBy(asc(usageLog.usedAt));
  return rows.map((row) => row.usedAt);
}

export async function logUse(tx: Transaction, use: { scope: string; usedAt: Date }): Promise<void> {
  await tx.insert(usageLog).values(use);
}

/**
 * Deletes uses outside every window, and those after `latest`: a wrong clock wrote them, and they would count until
 * that time comes.
 */
export async function deleteUsesOutside(db: Executor, { until, latest }: { until: Date; latest: Date }): Promise<void> {
  await db.delete(usageLog).where(or(lte(usageLog.usedAt, until), gt(usageLog.usedAt, latest)));
}
