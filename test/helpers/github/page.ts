import type { Request, Response } from 'express';

/** One page of a list with GitHub's `Link`: by `page` and `per_page`, at most 100. */
export function sendPage(req: Request, res: Response, items: readonly unknown[]): void {
  const perPage = Math.min(100, Number(req.query.per_page ?? 30));
  const page = Number(req.query.page ?? 1);
  const last = Math.max(1, Math.ceil(items.length / perPage));
  const pageLink = (to: number): string => {
    // The public URL: behind a proxy, an Enterprise server may see another host name.
    const url = new URL(req.originalUrl, 'https://github.seen-from-outside.example');
    url.searchParams.set('page', String(to));
    return url.href;
  };
  if (page < last) res.set('Link', `<${pageLink(page + 1)}>; rel="next", <${pageLink(last)}>; rel="last"`);
  res.json(items.slice((page - 1) * perPage, page * perPage));
}
