import { type SQL, sql } from 'drizzle-orm';

/** A time in milliseconds as an interval of the database. */
export const seconds = (ms: number): SQL => sql`make_interval(secs => ${ms / 1000}::float8)`;
