import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { startEmbeddedDatabase } from '../../../embedded/database/embedded-database.ts';
import { vacuum } from '../../../platform/retention/collect-garbage.ts';
import { type Database, openDatabase } from '../../../platform/store/database.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const home = temporaryFolder();

describe('the embedded database', () => {
  let db: Database;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    const embedded = await startEmbeddedDatabase(home);
    const { url, maxConnections } = embedded;
    db = await openDatabase({ url, maxConnections, logger: pino({ level: 'silent' }) });
    stop = async () => {
      await db.close();
      await embedded.stop();
    };
  });
  afterAll(() => stop?.());

  const collect = (dryRun = false) => vacuum({ db, dryRun, signal: new AbortController().signal });

  /** Rows of a crawl that come and go. Returns the size of their table. */
  async function crawl(): Promise<number> {
    await db.execute(sql`
      insert into crawl_urls (job_id, url, rank, depth, state)
      select 'se_1', 'https://docs.example.com/' || page, 0, 0, 'settled' from generate_series(1, 5000) as page`);
    await db.execute(sql`delete from crawl_urls`);
    // Otherwise PostgreSQL counts the rows up to a second later.
    await db.execute(sql`select pg_stat_force_next_flush()`);
    const { rows } = await db.execute<{ bytes: number }>(sql`select pg_table_size('crawl_urls')::float8 as bytes`);
    return rows[0]?.bytes ?? 0;
  }

  it('does not grow with each export, because the space of deleted rows is used again', async () => {
    const first = await crawl();
    expect(await collect(true)).toEqual({ count: 1, sizeBytes: expect.any(Number), items: ['crawl_urls'] });
    for (let round = 0; round < 3; round += 1) {
      expect(await collect()).toMatchObject({ count: 1, items: ['crawl_urls'] });
      expect(await crawl()).toBeLessThan(1.5 * first);
    }
    await collect();
    expect(await collect()).toEqual({ count: 0, sizeBytes: 0, items: [] });
  });
});
