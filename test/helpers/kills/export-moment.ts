import type pg from 'pg';

/** How far an export is within a stage, from 0 to 1. */
export type ExportMoment = { stage: 'crawling' | 'rewriting'; share: number };

const LOOK = `
  select phase, settled_count::float8 as settled,
    (select count(*) from crawl_batches b where b.job_id = c.job_id)::float8 as total,
    (select count(*) from crawl_batches b where b.job_id = c.job_id and state = 'settled')::float8 as made
  from crawls c where job_id = $1`;

/** Reads from the database where a job is; undefined before its crawl, after it, and while the database is away. */
export async function momentOf(pool: pg.Pool, jobId: string, urlCount: number): Promise<ExportMoment | undefined> {
  try {
    const { rows } = await pool.query<{ phase: string; settled: number; total: number; made: number }>(LOOK, [jobId]);
    const [row] = rows;
    if (row === undefined) return undefined;
    if (row.phase === 'crawling') return { stage: 'crawling', share: row.settled / urlCount };
    return { stage: 'rewriting', share: row.total === 0 ? 0 : row.made / row.total };
  } catch {
    return undefined;
  }
}
