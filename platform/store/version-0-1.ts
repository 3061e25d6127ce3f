/** When the last migration of version 0.1 was written, as Drizzle's table has it. */
const VERSION_0_1 = 1_795_310_786_559;

/** What version 0.1 lacks of the first migration. A development version may have the first three. */
const STATEMENTS = [
  'ALTER TABLE "crawls" ADD COLUMN IF NOT EXISTS "file_count" integer DEFAULT 0 NOT NULL',
  'ALTER TABLE "crawls" ADD COLUMN IF NOT EXISTS "decoded_bytes" bigint DEFAULT 0 NOT NULL',
  'ALTER TABLE "crawls" ADD COLUMN IF NOT EXISTS "stored_bytes" bigint DEFAULT 0 NOT NULL',
  'ALTER TABLE "pull_requests" ADD COLUMN IF NOT EXISTS "ended_by" text',
  'ALTER TABLE "pull_requests" ADD COLUMN IF NOT EXISTS "review_key" text',
];

/**
 * What upgrades a database of version 0.1, which had nine migrations, to the state of the first migration of today.
 * @param newest the time of the database's last migration
 * @throws Error if the database is older.
 */
export function statementsSinceVersion01(newest: number): readonly string[] {
  if (newest >= VERSION_0_1) return STATEMENTS;
  throw new Error(
    'The database was made by a development version of Galley before 0.1, and this version can not upgrade it. ' +
      'Nothing was changed. Start version 0.1 with it once and then this version again, or use an empty database.',
  );
}
