import { timestamp } from 'drizzle-orm/pg-core';

/** A timestamp column with milliseconds: a JavaScript `Date` holds no more and would not compare as equal. */
export const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3 });
