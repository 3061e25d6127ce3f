import { readFile } from 'node:fs/promises';

const FOLDER = 'platform/store/migrations';

/** Locks an existing table while it creates an index. */
const BLOCKING = 'CREATE INDEX "jobs_by_day" ON "jobs" USING btree ("day");';

const CREATE_TABLE = /^create table "(\w+)"/i;
const CREATE_INDEX = /^create (?:unique )?index (concurrently )?.* on "(\w+)"/i;

/** The statements of a migration that lock an existing table while they create an index. */
function blockingIndexes(text: string): string[] {
  const statements = text.split('--> statement-breakpoint').map((statement) => statement.trim());
  const created = new Set(statements.map((statement) => CREATE_TABLE.exec(statement)?.[1]));
  return statements.filter((statement) => {
    const [, concurrently, table] = CREATE_INDEX.exec(statement) ?? [];
    return table !== undefined && concurrently === undefined && !created.has(table);
  });
}

test('a migration creates indexes of existing tables concurrently (docs/development.md)', async () => {
  const { entries } = JSON.parse(await readFile(`${FOLDER}/meta/_journal.json`, 'utf8'));
  const tags: string[] = entries.map(({ tag }: { tag: string }) => tag);
  const blocking: Record<string, string[]> = {};
  for (const tag of tags) {
    const found = blockingIndexes(await readFile(`${FOLDER}/${tag}.sql`, 'utf8'));
    if (found.length > 0) blocking[tag] = found;
  }
  expect(blocking).toEqual({});
  // Proves that the check finds a blocking index.
  expect(blockingIndexes(BLOCKING)).toHaveLength(1);
});
