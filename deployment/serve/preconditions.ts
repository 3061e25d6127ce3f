import type { IncomingHttpHeaders } from 'node:http';

/** What the headers If-Match and If-None-Match (RFC 9110, 13) make of a GET or HEAD. */
type Precondition = 'send' | 'not-modified' | 'failed';

/**
 * There are no modification times: they differ between machines with the same bytes and go back on a rollback, so
 * only ETags count.
 * @param etags of the response, and of others with the same meaning
 * @param status 404: nothing is there that `*` or If-Match could mean, but the client may have the not-found page
 */
export function checkPreconditions(
  headers: IncomingHttpHeaders,
  etags: readonly string[],
  status: 200 | 404,
): Precondition {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (status === 200 && ifMatch !== undefined && !lists(ifMatch, etags, false)) return 'failed';
  if (ifNoneMatch === undefined || asksForAFreshCopy(headers)) return 'send';
  if (status === 404 && ifNoneMatch === '*') return 'send';
  return lists(ifNoneMatch, etags, true) ? 'not-modified' : 'send';
}

/** A reload in a browser, which sends the ETag of its copy all the same. */
function asksForAFreshCopy(headers: IncomingHttpHeaders): boolean {
  return headers['cache-control']?.includes('no-cache') === true;
}

/** `weak`: `W/"x"` matches `"x"`. Our ETags contain no commas. */
function lists(header: string, etags: readonly string[], weak: boolean): boolean {
  if (header === '*' || etags.includes(header)) return true;
  return header.split(',').some((entry) => {
    const etag = entry.trim();
    return etags.includes(weak && etag.startsWith('W/') ? etag.slice(2) : etag);
  });
}
