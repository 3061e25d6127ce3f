import { errorText } from '../../base/error-code.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { PROBE_TIMEOUT_MS, probe } from './probe.ts';

interface SiteAddress {
  domain: string;
  /** Where the site is served, if not at its domain. */
  origin?: string | undefined;
}

/** Requests the start page, where an export begins. Follows no redirect. */
export async function checkSiteOrigin(check: string, { domain, origin }: SiteAddress): Promise<Finding> {
  const url = new URL('/', origin ?? `https://${domain}`);
  const correct = origin === undefined ? 'correct the domain, or name the server in origin' : 'correct its origin';
  try {
    const { status, headers } = await probe(url.href);
    return describeStatus(check, url, { status, location: headers.get('location') });
  } catch (error) {
    return fail(check, `${url} can't be reached (${reasonOf(error)})`, `Start the server of the site, or ${correct}.`);
  }
}

function describeStatus(check: string, url: URL, answer: { status: number; location: string | null }): Finding {
  const { status, location } = answer;
  const target = location !== null && URL.canParse(location, url) ? new URL(location, url) : null;
  if (status >= 300 && status < 400 && target !== null) {
    if (target.host === url.host) return ok(check, `${url} redirects to ${target}`);
    return warn(
      check,
      `${url} redirects to ${target.host}, which is not exported`,
      `If that is the site, set its domain or origin to ${target.host}.`,
    );
  }
  if (status === 401 || status === 403)
    return fail(check, `${url} requires a login (${status})`, 'Name a server that needs none in origin.');
  if (status === 429 || status >= 500)
    return warn(check, `${url} responds ${status}`, 'An export is retried, but fails if this lasts.');
  if (status >= 400)
    return fail(check, `${url} responds ${status}`, 'An export begins at this page: correct the domain or origin.');
  return ok(check, `${url} responds ${status}`);
}

/** Node's fetch hides the reason in the cause. */
export function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `no response within ${PROBE_TIMEOUT_MS / 1000} s`;
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  // Of several addresses that refuse, Node's error has no message.
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : undefined;
  return errorText(first ?? cause);
}
