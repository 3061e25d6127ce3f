import type { FetchedResponse, Fetcher, FetchOptions, FetchResult } from '../ports.ts';
import { isOfSite, normalizeUrl, originUrl } from '../urls/identity.ts';
import type { Site } from '../urls/types.ts';

/** Accepts the error status of a missing page, whose body is the not-found page. */
export function acceptsNotFound(status: number): boolean {
  return status === 404;
}

/** Used if the origin has no readable not-found page. */
const plainNotFound: FetchedResponse = {
  kind: 'response',
  status: 404,
  contentType: 'text/html; charset=utf-8',
  body: Buffer.from('<!doctype html><meta charset="utf-8"><title>Page not found</title><h1>Page not found</h1>\n'),
};

function isHtml(fetched: FetchResult): fetched is FetchedResponse {
  return fetched.kind === 'response' && /^\s*(text\/html|application\/xhtml\+xml)/i.test(fetched.contentType);
}

/**
 * Settles the not-found page with what the origin returns for `/404.html`: a real file, an error page, or our plain
 * one. Follows redirects, because hosts with clean URLs redirect `/404.html` to `/404`.
 */
export async function settleNotFoundPage(
  fetched: FetchResult,
  { fetcher, site, request }: { fetcher: Fetcher; site: Site; request: FetchOptions },
): Promise<FetchedResponse> {
  if (isHtml(fetched)) return fetched;
  if (fetched.kind !== 'redirect' || fetched.location.pathname !== '/404') return plainNotFound;
  const target = normalizeUrl(fetched.location.href, site);
  if (target === undefined || !isOfSite(target, site)) return plainNotFound;
  const clean = await fetcher.get(new URL(originUrl(target, site)), { ...request, acceptStatus: acceptsNotFound });
  return isHtml(clean) ? clean : plainNotFound;
}
