import type pg from 'pg';

/** An export's progress within a stage, from 0 to 1. */
export type ExportMoment = { stage: 'crawling' | 'rewriting'; share: number };

const PROGRESS_QUERY = `
  select phase, settled_count::float8 as settled,
    (select count(*) from crawl_batches b where b.job_id = c.job_id)::float8 as total,
    (select count(*) from crawl_batches b where b.job_id = c.job_id and state = 'settled')::float8 as made
  from crawls c where job_id = $1`;

/** Reads a job's progress. `undefined` before the crawl, after the export, and while the database is down. */
export async function momentOf(pool: pg.Pool, jobId: string, urlCount: number): Promise<ExportMoment | undefined> {
  try {
    const { rows } = await pool.query<{ phase: string; settled: number; total: number; made: number }>(PROGRESS_QUERY, [
      jobId,
    ]);
    const [row] = rows;
    if (row === undefined) return undefined;
    if (row.phase === 'crawling') return { stage: 'crawling', share: row.settled / urlCount };
    return { stage: 'rewriting', share: row.total === 0 ? 0 : row.made / row.total };
  } catch {
    return undefined;
  }
}
