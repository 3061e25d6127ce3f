import { sql } from 'drizzle-orm';
import type { Transaction } from '../../../platform/store/database.ts';
import { settleUrls } from '../../../platform/store/frontier.ts';
import { leaseUrls } from '../../../platform/store/frontier-leases.ts';
import { mappedUrls } from '../../../platform/store/frontier-map.ts';
import { createDatabase } from '../../helpers/test-database.ts';
import { found, leaseMs, useFrontier, useStores } from './store-fixture.ts';

describe('a large frontier with outdated planner statistics', () => {
  const frontier = useFrontier(useStores(createDatabase));
  const ROWS = 30_000;
  /** Far fewer than a job's rows, far more than the requested ones. */
  const FEW = 1_000;

  /** The number of frontier rows that the statements of `run` scanned, including rows that they discarded. */
  async function rowsRead(run: (tx: Transaction) => Promise<unknown>): Promise<number> {
    return await frontier.db.transaction(async (tx) => {
      await run(tx);
      const { rows } = await tx.execute<{ read: number }>(sql`
        select (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read
        from pg_stat_xact_user_tables where relname = 'crawl_urls'`);
      return rows[0]?.read ?? Number.NaN;
    });
  }

  beforeEach(async () => {
    const { db, jobId } = frontier;
    // Most rows were settled after the planner's statistics were collected.
    await db.execute(sql`alter table crawl_urls set (autovacuum_enabled = false)`);
    await db.execute(sql`
      insert into crawl_urls (job_id, url, rank, depth, state, outcome, path)
      select ${jobId}, 'https://d.example/' || n, 5, 1, state, case state when 'settled' then 'file' end, n || '.html'
      from generate_series(1, ${ROWS}::integer) as n,
        lateral (select case when n < ${ROWS - 5_000} then 'settled' else 'queued' end as state) s`);
  });

  it('is never scanned completely to lease, settle or look up a few URLs', async () => {
    const { jobId } = frontier;
    let leased: Awaited<ReturnType<typeof leaseUrls>> = [];
    const reads = {
      lease: await rowsRead(async (tx) => {
        leased = await leaseUrls(tx, { jobId, token: 'one', limit: 10, leaseMs });
      }),
      settle: await rowsRead((tx) => {
        const settled = leased.map(({ id }) => ({ id, outcome: 'missing', reason: 'gone', status: 404 }) as const);
        return settleUrls(tx, { jobId, token: 'one', leaseMs, settled, found: [found('/1'), found('/new')] });
      }),
      map: await rowsRead(async (tx) => {
        for await (const rows of mappedUrls(
          tx,
          jobId,
          leased.map(({ url }) => url),
        ))
          expect(rows).toHaveLength(10);
      }),
    };
    expect(leased).toHaveLength(10);
    expect(Object.entries(reads).filter(([, read]) => !(read < FEW))).toEqual([]);
  });
});
