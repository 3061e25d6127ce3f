import { sql } from 'drizzle-orm';
import type { Transaction } from './database.ts';

/** Takes the lock of that name until the transaction ends, across all processes on the database. */
export async function lockUntilCommit(tx: Transaction, name: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}
