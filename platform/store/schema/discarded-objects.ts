import { index, pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from './moment.ts';

/**
 * Stored objects that no row leads to any more. `galley gc` deletes them when they are due, unless a row names them again.
 * A key that ends with `/` is a folder.
 */
export const discardedObjects = pgTable(
  'discarded_objects',
  {
    key: text('key').primaryKey(),
    discardedAt: moment('discarded_at').notNull(),
    /** A folder is emptied twice, because a worker may still have written to it after the first time. */
    dueAt: moment('due_at').notNull(),
  },
  (table) => [index('discarded_objects_due').on(table.dueAt)],
);

/** One row: the id with which this database marks its object store. */
export const storeOwner = pgTable('store_owner', { id: text('id').primaryKey() });
