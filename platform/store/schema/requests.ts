import { bigserial, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { moment } from './moment.ts';
import { organizations } from './organizations.ts';

/** The first 2xx response to each `Idempotency-Key`; rejections are never stored. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    organizationId: text('organization_id')
      .notNull()
      .references(() => organizations.id),
    key: text('key').notNull(),
    /** SHA-256 over method, path and body: the same key with another request is rejected. */
    requestSha256: text('request_sha256').notNull(),
    status: integer('status').notNull(),
    answerJson: text('answer_json').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.key] }),
    index('idempotency_keys_by_expiry').on(table.expiresAt),
  ],
);

/**
 * One row per accepted use of a rate-limited operation; a scope is what a limit counts, such as one organization's
 * starts.
 */
export const usageLog = pgTable(
  'usage_log',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    scope: text('scope').notNull(),
    usedAt: moment('used_at').notNull(),
  },
  (table) => [index('usage_log_by_scope').on(table.scope, table.usedAt)],
);
