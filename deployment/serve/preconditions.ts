import type { IncomingHttpHeaders } from 'node:http';

/** What the headers If-Match and If-None-Match (RFC 9110, 13) make of a GET or HEAD. */
type Precondition = 'send' | 'not-modified' | 'failed';

/**
 * There are no modification times: they differ between machines with the same bytes and go back on a rollback, so
 * only ETags count.
 * @param etags of the response, and of others with the same meaning
 */
export function checkPreconditions(headers: IncomingHttpHeaders, etags: readonly string[]): Precondition {
  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined && !lists(ifMatch, etags, false)) return 'failed';
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch === undefined || asksForAFreshCopy(headers)) return 'send';
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
