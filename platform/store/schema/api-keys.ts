import { boolean, index, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from './moment.ts';
import { organizations, projects } from './organizations.ts';

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
    /** It may only read. */
    readOnly: boolean('read_only').notNull().default(false),
    /** The only project that it opens, with which it ends; null: all of the organization's. */
    projectId: text('project_id').references(() => projects.id, { onDelete: 'cascade' }),
    lastUsedAt: moment('last_used_at'),
    expiresAt: moment('expires_at'),
    /** The addresses and CIDR ranges that may use it; null: any. */
    allowedAddresses: jsonb('allowed_addresses').$type<string[]>(),
    revokedAt: moment('revoked_at'),
  },
  (table) => [index('api_keys_by_organization').on(table.organizationId)],
);
