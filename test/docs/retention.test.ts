import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getTableName, isTable } from 'drizzle-orm';
import * as names from '../../contract/names.ts';
import * as exportKeys from '../../exporter/object-keys.ts';
import * as agentKeys from '../../platform/activities/agent/object-keys.ts';
import { GARBAGE_JOBS, OWNERS_FOLDER } from '../../platform/retention/collect-garbage.ts';
import { HOME_NAMES } from '../../programs/process/home.ts';

const SCHEMA = 'platform/store/schema';

async function tables(): Promise<string[]> {
  const modules = await Promise.all(
    readdirSync(SCHEMA).map(async (file) => Object.values<unknown>(await import(join('../..', SCHEMA, file)))),
  );
  return modules.flat().flatMap((value) => (isTable(value) ? [getTableName(value)] : []));
}

/** Values of the exports whose names end like this. */
function constants(module: object, suffix: string): unknown[] {
  return Object.entries(module).flatMap(([name, value]) => (name.endsWith(suffix) ? [value] : []));
}

const rows = [
  ...readFileSync('docs/operate/retention.md', 'utf8').matchAll(/^\| (?!---)(.+) \| (.+) \| (.+) \| (.*?) ?\|$/gm),
].slice(1);
const namedIn = (column: number): string[] => [
  ...new Set(rows.flatMap((row) => [...(row[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))),
];

describe('the table of what grows', () => {
  it('has exactly the tables, prefixes, folders of GALLEY_HOME and schedules of the code', async () => {
    const growing = [
      ...(await tables()),
      ...[exportKeys, agentKeys].flatMap((module) => constants(module, '_FOLDER')),
      OWNERS_FOLDER,
      ...HOME_NAMES,
      ...constants(names, '_SCHEDULE'),
    ];
    expect(growing.length).toBeGreaterThan(40);
    expect(namedIn(2).sort()).toEqual([...new Set(growing)].sort());
  });

  it('names each job of `galley gc`, and no other', () => {
    expect(namedIn(4).sort()).toEqual(Object.keys(GARBAGE_JOBS).sort());
  });

  it('has a limit in each row', () => {
    expect(rows.filter(([, , , kept = '']) => kept.trim() === '')).toEqual([]);
  });
});
