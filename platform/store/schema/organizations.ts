import { sql } from 'drizzle-orm';
import { check, index, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** A customer of the platform. Static export needs the plan `enterprise`. */
export const organizations = pgTable(
  'organizations',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull().unique(),
    plan: text('plan', { enum: ['free', 'enterprise'] }).notNull(),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
  },
  (table) => [check('organizations_plan_known', sql`${table.plan} in ('free', 'enterprise')`)],
);

/** Bearer keys. The key itself is nowhere: its SHA-256 finds it, its prefix tells people which one it is. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: text('id').primaryKey(),
    organizationId: text('organization_id')
      .notNull()
      .references(() => organizations.id),
    name: text('name'),
    prefix: text('prefix').notNull(),
    sha256: text('sha256').notNull().unique(),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
    revokedAt: timestamp('revoked_at', { withTimezone: true, precision: 3 }),
  },
  (table) => [index('api_keys_by_organization').on(table.organizationId)],
);
