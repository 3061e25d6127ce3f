import { type SQL, sql } from 'drizzle-orm';

/** Milliseconds as an SQL interval. */
export const seconds = (ms: number): SQL => sql`make_interval(secs => ${ms / 1000}::float8)`;
