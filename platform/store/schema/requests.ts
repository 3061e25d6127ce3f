import { bigserial, index, integer, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';
import { organizations } from './organizations.ts';

/** The first 2xx answer to each `Idempotency-Key`; refusals are never kept. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    organizationId: text('organization_id')
      .notNull()
      .references(() => organizations.id),
    key: text('key').notNull(),
    /** SHA-256 over method, path and body: the same key with another request is refused. */
    requestSha256: text('request_sha256').notNull(),
    status: integer('status').notNull(),
    answerJson: text('answer_json').notNull(),
    expiresAt: timestamp('expires_at', { withTimezone: true, precision: 3 }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.key] }),
    index('idempotency_keys_by_expiry').on(table.expiresAt),
  ],
);

/** One row per accepted use of a limited operation; a scope is what a limit counts, such as one organization's starts. */
export const usageLog = pgTable(
  'usage_log',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    scope: text('scope').notNull(),
    usedAt: timestamp('used_at', { withTimezone: true, precision: 3 }).notNull(),
  },
  (table) => [index('usage_log_by_scope').on(table.scope, table.usedAt)],
);
