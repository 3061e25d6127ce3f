import { sql } from 'drizzle-orm';
import pino from 'pino';
import { redactQueryValues } from '../../platform/redact-failures.ts';
import { type Database, openDatabase } from '../../platform/store/database.ts';
import { isDatabaseAway } from '../../platform/store/database-away.ts';
import { createDatabase, type TestDatabase } from '../helpers/test-database.ts';

describe('the failure of an activity', () => {
  let server: TestDatabase;
  let db: Database;

  beforeAll(async () => {
    server = await createDatabase();
    db = await openDatabase({ ...server, logger: pino({ level: 'silent' }) });
  });
  afterAll(async () => {
    await db?.close();
    await server?.stop();
  });

  const failureOf = async (run: () => Promise<unknown>): Promise<Error> => {
    const execute = redactQueryValues().inbound?.execute;
    if (execute === undefined) throw new Error('the interceptor does not run activities');
    const failure: unknown = await execute({ args: [], headers: {} }, run).catch((error: unknown) => error);
    if (!(failure instanceof Error)) throw new Error('the activity did not fail');
    return failure;
  };

  it('contains the statement and the error of the database, but no values', async () => {
    const failure = await failureOf(() =>
      db.execute(sql`insert into organizations (id, name, plan) values (${'org_x'}, ${'hush-name'}, ${'hush-plan'})`),
    );
    expect(failure.message).toMatch(/violates check constraint .*\(in: insert into organizations/);
    expect(failure).toMatchObject({ name: 'QueryError', code: '23514' });
    expect(failure.cause).toBeUndefined();
    expect(`${failure.stack}${JSON.stringify(failure)}`).not.toContain('hush');
  });

  it('is still recognized as a failure of the database connection or schema', async () => {
    const failure = await failureOf(() => db.execute(sql`select * from nothing_yet where id = ${'hush'}`));
    expect(isDatabaseAway(failure)).toBe(true);
  });

  it('is passed on unchanged if it has any other cause', async () => {
    const failure = new TypeError('as it is');
    expect(await failureOf(() => Promise.reject(failure))).toBe(failure);
  });
});
