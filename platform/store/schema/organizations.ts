import { sql } from 'drizzle-orm';
import { check, pgTable, text } from 'drizzle-orm/pg-core';
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
