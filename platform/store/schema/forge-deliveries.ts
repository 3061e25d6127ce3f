import { sql } from 'drizzle-orm';
import { bigserial, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from './moment.ts';
import { projects } from './organizations.ts';

/**
 * The embedded forge's outbox of webhooks: written in the transaction of the change that they report, delivered later
 * by any process. The URL and the secret are read from the project each time, so a secret is stored once and a changed
 * one applies to waiting deliveries.
 */
export const forgeDeliveries = pgTable(
  'forge_deliveries',
  {
    /** `X-GitHub-Delivery`: the same for every attempt. */
    id: text('id').primaryKey(),
    sequence: bigserial('sequence', { mode: 'number' }).notNull().unique(),
    projectId: text('project_id')
      .notNull()
      .references(() => projects.id),
    event: text('event', { enum: ['pull_request', 'pull_request_review', 'push'] }).notNull(),
    /** The exact bytes that are signed and sent. */
    bodyJson: text('body_json').notNull(),
    attemptCount: integer('attempt_count').notNull().default(0),
    nextAttemptAt: moment('next_attempt_at').notNull().defaultNow(),
    leaseToken: text('lease_token'),
    leaseUntil: moment('lease_until'),
    /** The last failed attempt's error. */
    lastError: text('last_error'),
    createdAt: moment('created_at').notNull().defaultNow(),
    deliveredAt: moment('delivered_at'),
    /** Given up. */
    failedAt: moment('failed_at'),
  },
  (table) => [
    index('forge_deliveries_waiting')
      .on(table.nextAttemptAt)
      .where(sql`${table.deliveredAt} is null and ${table.failedAt} is null`),
    index('forge_deliveries_of_project').on(table.projectId, table.sequence),
  ],
);
