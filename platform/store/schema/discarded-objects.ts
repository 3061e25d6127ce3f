import { index, pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from './moment.ts';

/**
 * Stored objects whose rows were deleted, so that nothing else leads to them. The reconciler deletes the objects. A key
 * that ends with `/` is a folder.
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
