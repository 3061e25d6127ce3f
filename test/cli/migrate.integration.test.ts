import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { connectDatabase } from '../../platform/store/database.ts';
import { galley } from '../helpers/galley.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { createDatabase } from '../helpers/test-database.ts';

it('galley migrate makes the tables of an empty database and exits, and changes nothing the second time', async () => {
  const server = await createDatabase({ empty: true });
  const db = connectDatabase({ url: server.url, logger: pino({ level: 'silent' }) });
  try {
    for (const _time of ['first', 'second']) {
      const { code, stdout, stderr } = await galley(['migrate'], { DATABASE_URL: server.url });
      expect([code, stdout, stderr]).toEqual([0, 'the database is migrated\n', '']);
      const { rows } = await db.pool.query("select to_regclass('projects') is not null as made");
      expect(rows).toEqual([{ made: true }]);
    }
  } finally {
    await db.close();
    await server.stop();
  }
});

describe('a database that refuses galley migrate ends it at once, because waiting would not help', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;

  beforeAll(async () => {
    server = await startPostgres();
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      await client.query("create role locked login password 'right'");
      await client.query('create role reader login');
      const rules = join(server.data, 'pg_hba.conf');
      const trusted = await readFile(rules, 'utf8');
      await writeFile(rules, 'host all locked all scram-sha-256\nhost all barred all reject\n');
      await appendFile(rules, trusted);
      await client.query('select pg_reload_conf()');
    } finally {
      await client.end();
    }
  });
  afterAll(() => server?.stop());

  it.each([
    ['a wrong password', 'locked:wrong', 'postgres', 'password authentication failed for user "locked" (28P01)'],
    ['an unknown role', 'nobody', 'postgres', 'role "nobody" does not exist (28000)'],
    ['a role that may not connect', 'barred', 'postgres', 'pg_hba.conf rejects connection for host'],
    ['an unknown database', 'galley', 'absent', 'database "absent" does not exist (3D000)'],
    ['a role that may change nothing', 'reader', 'postgres', 'permission denied for database postgres (42501)'],
  ])('%s', async (_what, login, database, said) => {
    const { host } = new URL(server.url);
    const { code, stdout, stderr } = await galley(['migrate'], {
      DATABASE_URL: `postgres://${login}@${host}/${database}`,
    });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('galley: DATABASE_URL: expected a login that may create tables in an existing database');
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('waiting');
  });
});
