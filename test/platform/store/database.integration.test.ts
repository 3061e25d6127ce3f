import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import pino from 'pino';
import { type Database, openDatabase } from '../../../platform/store/database.ts';
import { isDatabaseAway } from '../../../platform/store/database-away.ts';
import { startPostgres } from '../../helpers/postgres.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';

const logger = pino({ level: 'silent' });

describe('a PostgreSQL server that comes and goes', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;
  const opened: Database[] = [];

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((db) => db.close()));
  });
  afterAll(() => server?.stop());

  async function open(maxConnections: number): Promise<Database> {
    const db = await openDatabase({ url: server.url, logger, maxConnections });
    opened.push(db);
    return db;
  }

  it('is migrated once by processes that start together', async () => {
    const databases = await Promise.all(Array.from({ length: 6 }, () => open(1)));
    expect(databases).toHaveLength(6);
    const { rows } = (await databases[0]?.execute(
      sql`select count(distinct hash) = count(*) as once from drizzle.__drizzle_migrations`,
    )) ?? { rows: [] };
    expect(rows).toEqual([{ once: true }]);
  });

  it('is waited for at the start', async () => {
    await server.kill();
    const opening = open(2);
    let early = true;
    void opening.then(() => {
      early = false;
    });
    await sleep(1500);
    expect(early).toBe(true);
    await server.restart();
    expect((await (await opening).execute(sql`select 1 as one`)).rows).toEqual([{ one: 1 }]);
  });

  it('is not waited for any longer once the wait is aborted', async () => {
    await server.kill();
    const abort = new AbortController();
    const opening = openDatabase({ url: server.url, logger, signal: abort.signal });
    setTimeout(() => abort.abort(), 300);
    await expect(opening).rejects.toThrow(/abort/i);
    await server.restart();
  });

  it('breaks transactions when it dies, and neither the process nor a connection for ever', async () => {
    const db = await open(2);
    const attempt = () =>
      db.transaction(async (tx) => {
        await tx.execute(sql`select 1`);
        await sleep(20);
        await tx.execute(sql`select 1`);
      });
    const failures: unknown[] = [];
    let running = true;
    const workers = Array.from({ length: 4 }, async () => {
      while (running) {
        await attempt().catch((error: unknown) => failures.push(error));
        await sleep(5);
      }
    });
    await sleep(200);
    await server.kill();
    await waitFor(() => failures.length > 4, { describe: 'failed where no server is' });
    await server.restart();
    await sleep(200);
    running = false;
    await Promise.all(workers);
    expect(failures.filter((error) => !isDatabaseAway(error))).toEqual([]);
    // Both connections of the pool are there again, at once.
    await Promise.all([attempt(), attempt(), attempt()]);
    expect(db.pool.totalCount).toBeLessThanOrEqual(2);
  });
});
