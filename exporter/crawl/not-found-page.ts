import type { Site } from '../document/types.ts';
import { isOfSite, normalizeUrl, originUrl } from '../document/url-identity.ts';
import type { FetchedResponse, FetchResult } from '../fetch/fetch-result.ts';
import type { Fetcher } from '../ports.ts';

/** The address under which the not-found page is kept, whatever address brought it. */
export function notFoundUrl(site: Pick<Site, 'domain'>): string {
  return `https://${site.domain}/404.html`;
}

/** A missing page's answer is what we came for. */
export function acceptsNotFound(status: number): boolean {
  return status === 404;
}

/** For origins that answer what they don't have with nothing a reader could look at. */
const plainNotFound: FetchedResponse = {
  kind: 'response',
  status: 404,
  contentType: 'text/html; charset=utf-8',
  body: Buffer.from('<!doctype html><meta charset="utf-8"><title>Page not found</title><h1>Page not found</h1>\n'),
};

function isHtml(answer: FetchResult): answer is FetchedResponse {
  return answer.kind === 'response' && /^\s*(text\/html|application\/xhtml\+xml)/i.test(answer.contentType);
}

/**
 * Makes a page of whatever the origin answered for `/404.html`: a real file, its page for what it doesn't have, or a
 * plain one of ours. Hosts with clean addresses send `/404.html` to `/404`, which is followed.
 */
export async function settleNotFoundPage(
  answer: FetchResult,
  { fetcher, site, signal }: { fetcher: Fetcher; site: Site; signal: AbortSignal },
): Promise<FetchedResponse> {
  if (isHtml(answer)) return answer;
  if (answer.kind !== 'redirect' || answer.location.pathname !== '/404') return plainNotFound;
  const target = normalizeUrl(answer.location.href, site);
  if (target === undefined || !isOfSite(target, site)) return plainNotFound;
  const clean = await fetcher.get(new URL(originUrl(target, site)), { signal, acceptStatus: acceptsNotFound });
  return isHtml(clean) ? clean : plainNotFound;
}
