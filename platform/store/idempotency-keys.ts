import { and, eq, gt } from 'drizzle-orm';
import type { Transaction } from './database.ts';
import { idempotencyKeys } from './schema/requests.ts';

type StoredResponse = typeof idempotencyKeys.$inferSelect;

/** The response stored for a key that hasn't expired. */
export async function findStoredResponse(
  tx: Transaction,
  { organizationId, key, at }: { organizationId: string; key: string; at: Date },
): Promise<StoredResponse | undefined> {
  const [row] = await tx
    .select()
    .from(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.organizationId, organizationId),
        eq(idempotencyKeys.key, key),
        gt(idempotencyKeys.expiresAt, at),
      ),
    );
  return row;
}

/** Stores a response; it replaces an expired one. */
export async function storeResponse(tx: Transaction, answer: StoredResponse): Promise<void> {
  await tx
    .insert(idempotencyKeys)
    .values(answer)
    .onConflictDoUpdate({ target: [idempotencyKeys.organizationId, idempotencyKeys.key], set: answer });
}
