import { sql } from 'drizzle-orm';
import { check, jsonb, pgTable, text, unique } from 'drizzle-orm/pg-core';
import type { ProjectSettings } from '../../project-settings.ts';
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

/**
 * A site. A start names its domain, which is unique within its organization. Two organizations may register one domain,
 * each with its own origin, and never see each other's.
 */
export const projects = pgTable(
  'projects',
  {
    id: text('id').primaryKey(),
    organizationId: text('organization_id')
      .notNull()
      .references(() => organizations.id),
    domain: text('domain').notNull(),
    /** The site's origin, such as `http://127.0.0.1:8080`; null: `https://{domain}`. */
    origin: text('origin'),
    repository: text('repository'),
    ref: text('ref'),
    settings: jsonb('settings').$type<ProjectSettings>().notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [unique('projects_domain_within_organization').on(table.organizationId, table.domain)],
);
