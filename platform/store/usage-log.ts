import { and, asc, eq, gt } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { usageLog } from './schema/requests.ts';

/** The accepted uses of a scope after `since`, oldest first. */
export async function listUses(db: Executor, { scope, since }: { scope: string; since: Date }): Promise<Date[]> {
  const rows = await db
    .select({ usedAt: usageLog.usedAt })
    .from(usageLog)
    .where(and(eq(usageLog.scope, scope), gt(usageLog.usedAt, since)))
    .orderBy(asc(usageLog.usedAt));
  return rows.map((row) => row.usedAt);
}

export async function logUse(db: Executor, use: { scope: string; usedAt: Date }): Promise<void> {
  await db.insert(usageLog).values(use);
}

/** Forgets the uses of a scope, such as failed sign-ins after a successful one. */
export async function deleteUses(db: Executor, scope: string): Promise<void> {
  await db.delete(usageLog).where(eq(usageLog.scope, scope));
}
