import { type SQL, sql } from 'drizzle-orm';

const PAGE_ROWS = 5_000;

/** What to read of a job's rows in `crawl_urls`: `columns` for the select, and the URL as `url`. */
type UrlSelection = { jobId: string; columns: SQL; where: SQL };

/** Runs a statement of this file. */
type Run<Row> = (statement: SQL) => PromiseLike<{ rows: Row[] }>;

/**
 * A job's rows in pages, by URL, along the index of a job's URLs: by `id` the rows of all other jobs would be read too.
 * The next page is read ahead.
 */
export async function* urlPages<Row extends { url: string }>(
  run: Run<Row>,
  { jobId, columns, where }: UrlSelection,
): AsyncGenerator<Row[]> {
  const readAfter = async (url: string): Promise<Row[]> => {
    const { rows } = await run(sql`
      select ${columns} from crawl_urls
      where job_id = ${jobId} and ${where} and url > ${url} order by url limit ${PAGE_ROWS}`);
    return rows;
  };
  let reading = readAfter('');
  while (true) {
    const rows = await reading;
    const last = rows.length === PAGE_ROWS ? rows.at(-1) : undefined;
    if (last !== undefined) {
      reading = readAfter(last.url);
      // The next read reports the failure; this prevents an unhandled rejection.
      reading.catch(() => undefined);
    }
    if (rows.length > 0) yield rows;
    if (last === undefined) return;
  }
}

/**
 * A job's rows of these URLs, in pages. Each is looked up by itself: otherwise the planner reads all rows of the job,
 * which is slow for a batch of thousands among hundred thousands.
 */
export async function* rowsOfUrls<Row>(
  run: Run<Row>,
  { jobId, columns, where }: UrlSelection,
  urls: readonly string[],
): AsyncGenerator<Row[]> {
  for (let start = 0; start < urls.length; start += PAGE_ROWS) {
    const { rows } = await run(sql`
      select found.* from unnest(${sql.param(urls.slice(start, start + PAGE_ROWS))}::text[]) as wanted(url)
      cross join lateral (
        select ${columns} from crawl_urls where job_id = ${jobId} and url = wanted.url and ${where} limit 1
      ) as found`);
    yield rows;
  }
}
