import { z } from 'zod';

/** Longer than any list here: GitHub ends its list of changed files at 3,000. */
const MAX_PAGES = 200;

type Page = { headers: Readonly<Record<string, unknown>>; data: unknown };

/**
 * The items of a list, page by page. Counts pages instead of following `Link`, because a forge behind a proxy gives its
 * public URLs there. Gitea's operator can limit page sizes, so a short page isn't the last.
 */
export async function* itemsOf<T>(item: z.ZodType<T>, ask: (page: number) => Promise<Page>): AsyncGenerator<T> {
  for (let page = 1, seen = 0; page <= MAX_PAGES; page += 1) {
    const { headers, data } = await ask(page);
    const items = z.array(item).parse(data);
    yield* items;
    seen += items.length;
    const total = Number(headers['x-total-count'] ?? Number.NaN);
    const more = String(headers.link ?? '').includes('rel="next"') || seen < total;
    if (items.length === 0 || !more) return;
  }
}

export async function listOf<T>(item: z.ZodType<T>, ask: (page: number) => Promise<Page>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of itemsOf(item, ask)) all.push(each);
  return all;
}
