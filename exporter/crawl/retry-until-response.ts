import { setTimeout as delay } from 'node:timers/promises';
import { fetchRetryDelayMs } from '../fetch/fetch-result.ts';
import type { FetchedResponse, Fetcher, FetchFailure } from '../ports.ts';
import type { Site } from '../urls/identity.ts';
import { isOfSite, normalizeUrl, originUrl } from '../urls/identity.ts';

/** Waits between two attempts; rejects with the signal's reason. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

const realPause: Pause = (ms, signal) => delay(ms, undefined, { signal });

/** RFC 9309 requires crawlers to follow at least five redirects of a robots.txt. */
const MAX_REDIRECTS = 5;

export type Asked =
  /** `url` is the final URL after redirects. */
  | { kind: 'response'; url: string; response: FetchedResponse }
  | { kind: 'failed'; url: string; failure: FetchFailure; tries: number }
  /** The redirects form a loop, or lead to a URL that isn't HTTP, or to another site although that isn't allowed. */
  | { kind: 'nowhere' };

/**
 * Requests a normalized URL, follows redirects, and retries soft failures as a crawl does, but at most `maxTries`
 * times. Throws only the signal's reason.
 */
export async function retryUntilResponse(
  fetcher: Fetcher,
  site: Site,
  options: {
    url: string;
    leavesSite: boolean;
    maxAttempts: number;
    maxTries?: number;
    /** See `FetchOptions`. */
    maxBufferedBytes?: number;
    signal: AbortSignal;
    pause?: Pause;
  },
): Promise<Asked> {
  const { maxBufferedBytes } = options;
  const asking = { signal: options.signal, ...(maxBufferedBytes !== undefined && { maxBufferedBytes }) };
  const { leavesSite, maxAttempts, maxTries = Number.POSITIVE_INFINITY, signal, pause = realPause } = options;
  let { url } = options;
  for (let tries = 1, redirects = 0; ; ) {
    const result = await fetcher.get(new URL(isOfSite(url, site) ? originUrl(url, site) : url), asking);
    switch (result.kind) {
      case 'response':
        return { kind: 'response', url, response: result };
      case 'redirect': {
        const target = normalizeUrl(result.location.href, site);
        if (target === undefined || target === url || redirects === MAX_REDIRECTS) return { kind: 'nowhere' };
        if (!leavesSite && !isOfSite(target, site)) return { kind: 'nowhere' };
        url = target;
        redirects += 1;
        break;
      }
      case 'failed': {
        const delayMs = tries < maxTries ? fetchRetryDelayMs(result, tries, maxAttempts) : undefined;
        if (delayMs === undefined) return { kind: 'failed', url, failure: result, tries };
        await pause(delayMs, signal);
        tries += 1;
        break;
      }
      // Can't happen: the request has no validators and no sink.
      case 'sunk':
      case 'unchanged':
        return { kind: 'nowhere' };
    }
  }
}
