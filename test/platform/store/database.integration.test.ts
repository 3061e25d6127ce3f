import { sql } from 'drizzle-orm';
import pino from 'pino';
import { type Database, openDatabase } from '../../../platform/store/database.ts';
import { isDatabaseAway } from '../../../platform/store/database-away.ts';
import { startPostgres } from '../../helpers/postgres.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';

let lines: string[] = [];
const logger = pino({}, { write: (line: string) => void lines.push(line) });

describe('a PostgreSQL server that restarts', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;
  const opened: Database[] = [];

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(() => Promise.all(opened.splice(0).map((db) => db.close())));
  afterAll(() => server?.stop());

  async function open(maxConnections: number): Promise<Database> {
    const db = await openDatabase({ url: server.url, logger, maxConnections });
    opened.push(db);
    return db;
  }

  it('is migrated once by processes that start concurrently', async () => {
    const databases = await Promise.all(Array.from({ length: 6 }, () => open(1)));
    expect(databases).toHaveLength(6);
    const { rows } = (await databases[0]?.execute(
      sql`select count(distinct hash) = count(*) as once from drizzle.__drizzle_migrations`,
    )) ?? { rows: [] };
    expect(rows).toEqual([{ once: true }]);
  });

  /** The number of failed attempts to connect so far. */
  const failedAttempts = () => lines.filter((line) => line.includes('The database is away')).length;

  it('may start later than the process', async () => {
    await server.kill();
    lines = [];
    const opening = open(2);
    await waitFor(() => failedAttempts() >= 2, { describe: 'tried twice' });
    await server.restart();
    expect((await (await opening).execute(sql`select 1 as one`)).rows).toEqual([{ one: 1 }]);
  });

  it('is no longer awaited once the wait is aborted', async () => {
    await server.kill();
    lines = [];
    const abort = new AbortController();
    const opening = openDatabase({ url: server.url, logger, signal: abort.signal });
    const rejection = expect(opening).rejects.toThrow(/abort/i);
    await waitFor(() => failedAttempts() > 0, { describe: 'waited' });
    abort.abort();
    await rejection;
    await server.restart();
  });

  it('fails transactions when it dies, but the process and the connection pool recover', async () => {
    const db = await open(2);
    let successes = 0;
    const attempt = async () => {
      await db.transaction(async (tx) => {
        await tx.execute(sql`select 1`);
        await tx.execute(sql`select pg_sleep(0.02)`);
      });
      successes += 1;
    };
    const failures: unknown[] = [];
    let running = true;
    const workers = Array.from({ length: 4 }, async () => {
      while (running) {
        await attempt().catch((error: unknown) => failures.push(error));
        await new Promise(setImmediate);
      }
    });
    await waitFor(() => successes > 4, { describe: 'succeeded' });
    await server.kill();
    await waitFor(() => failures.length > 4, { describe: 'failed without a server' });
    await server.restart();
    const before = successes;
    await waitFor(() => successes > before + 4, { describe: 'succeeded again' });
    running = false;
    await Promise.all(workers);
    expect(failures.filter((error) => !isDatabaseAway(error))).toEqual([]);
    // Both connections of the pool are usable again.
    await Promise.all([attempt(), attempt(), attempt()]);
    expect(db.pool.totalCount).toBeLessThanOrEqual(2);
  });
});
