import { type SQL, sql } from 'drizzle-orm';

const PAGE_ROWS = 5_000;

/**
 * Rows of `crawl_urls` in pieces, by their addresses. `read` asks for one piece: `page` ends its conditions, with the
 * order and the limit. Pages go along the index of a job's addresses: by `id` the rows of all other jobs would be read
 * too.
 */
export async function* urlPages<Row extends { url: string }>(
  read: (page: SQL) => PromiseLike<{ rows: Row[] }>,
): AsyncGenerator<Row[]> {
  let after = '';
  while (true) {
    const { rows } = await read(sql`url > ${after} order by url limit ${PAGE_ROWS}`);
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    after = rows.at(-1)?.url ?? after;
  }
}

/** The condition that chooses these addresses; all of them where none are named. */
export function amongUrls(urls: readonly string[] | undefined): SQL {
  return urls === undefined ? sql`true` : sql`url = any(${sql.param(urls)}::text[])`;
}
