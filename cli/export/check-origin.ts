import { retryUntilResponse } from '../../exporter/crawl/retry-until-response.ts';
import type { Fetcher, FetchFailure } from '../../exporter/ports.ts';
import { originUrl } from '../../exporter/urls/identity.ts';
import type { Site } from '../../exporter/urls/types.ts';
import { CommandError } from '../command-error.ts';

/** A broken connection is tried again; a response that doesn't come within a minute is not. */
const TRIES = { maxAttempts: 1, maxTries: 2 };

/**
 * Requests the start page before the crawl, which repeats requests for a minute if the origin is down.
 * @throws CommandError with the requested URL, the reason and what to do, if the origin can't be exported
 */
export async function checkOrigin(
  fetcher: Fetcher,
  site: Site,
  { isGiven, signal }: { isGiven: boolean; signal: AbortSignal },
): Promise<void> {
  const url = `https://${site.domain}/`;
  const asked = await retryUntilResponse(fetcher, site, { ...TRIES, url, leavesSite: true, signal });
  // A start page that is temporarily unavailable is the crawl's to repeat.
  if (asked.kind !== 'failed' || (asked.failure.status !== null && asked.failure.soft)) return;
  const requested = originUrl(asked.url, site);
  // Its code is for the report.
  const reason = asked.failure.reason.replace(/ \([A-Z_]+\)$/, '');
  throw new CommandError(`${requested} can't be exported: ${reason}. ${adviceOf(asked.failure, isGiven)}`);
}

function adviceOf({ status }: FetchFailure, isOriginGiven: boolean): string {
  if (status === 401 || status === 403) {
    return 'The export has no login: name a server that needs none with --origin URL.';
  }
  if (status !== null) return 'The export begins at this page: --origin URL names the server that has it.';
  return isOriginGiven
    ? 'Check that the server runs, and the scheme, host and port of --origin.'
    : 'Check the domain, or name the server that has the site with --origin URL.';
}
