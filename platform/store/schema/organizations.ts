import { sql } from 'drizzle-orm';
import { check, index, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from './moment.ts';

/** A customer of the platform. Static export needs the plan `enterprise`. */
export const organizations = pgTable(
  'organizations',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull().unique(),
    /** Better Auth wants a default, though it creates no organization here. */
    plan: text('plan', { enum: ['free', 'enterprise'] })
      .notNull()
      .default('free'),
    /** Better Auth reads these three. */
    slug: text('slug').generatedAlwaysAs(sql`id`),
    logo: text('logo'),
    metadata: text('metadata'),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [check('organizations_plan_known', sql`${table.plan} in ('free', 'enterprise')`)],
);

/** Bearer keys. The key itself is never stored: its SHA-256 finds it, and its prefix identifies it for people. */
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
    createdAt: moment('created_at').notNull().defaultNow(),
    /** The name of the member who created it; null: an operator did. */
    createdBy: text('created_by'),
    lastUsedAt: moment('last_used_at'),
    expiresAt: moment('expires_at'),
    /** The addresses and CIDR ranges that may use it; null: any. */
    allowedAddresses: jsonb('allowed_addresses').$type<string[]>(),
    revokedAt: moment('revoked_at'),
  },
  (table) => [index('api_keys_by_organization').on(table.organizationId)],
);
