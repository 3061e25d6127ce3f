import { and, asc, eq, gt, lte, or } from 'drizzle-orm';
import type { Executor, Transaction } from './database.ts';
import { usageLog } from './schema/requests.ts';

/** When the accepted uses of a scope after `since` were, oldest first. */
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
 * Forgets uses that no window reaches back to any more, and those from after `latest`: a clock that was wrong for a
 * moment has written them, and they would fill their limit until that time comes.
 */
export async function deleteUsesOutside(db: Executor, { until, latest }: { until: Date; latest: Date }): Promise<void> {
  await db.delete(usageLog).where(or(lte(usageLog.usedAt, until), gt(usageLog.usedAt, latest)));
}
