import { retryUntilResponse } from '../../../exporter/crawl/retry-until-response.ts';
import { createAddressGuard, hostAndPort } from '../../../exporter/fetch/address-guard.ts';
import { createFetcher } from '../../../exporter/fetch/fetcher.ts';
import { createOriginLimiter } from '../../../exporter/fetch/origin-limiter.ts';
import { DEFAULT_LIMITS } from '../../../exporter/limits.ts';
import type { Fetcher } from '../../../exporter/ports.ts';
import type { Project } from '../../store/projects.ts';

/** One thing that was looked for, and what was there. */
export type OriginFinding = { what: string; isGood: boolean; found: string };

const TIMEOUT_MS = 15_000;
const MAX_BODY_BYTES = 2 * 1024 * 1024;
const USER_AGENT = 'Mozilla/5.0 (compatible; Galley/0.1; static export)';

/**
 * Fetches what an export begins with: the start page, robots.txt and sitemap.xml. As in an export, only public addresses
 * and the project's own origin are reached. Takes at most 15 seconds.
 */
export async function checkProjectOrigin({
  domain,
  origin,
}: Pick<Project, 'domain' | 'origin'>): Promise<OriginFinding[]> {
  const site = { domain, origin: origin ?? `https://${domain}` };
  const fetcher = createFetcher({
    guard: createAddressGuard({ operatorHosts: origin === null ? [] : [hostAndPort(new URL(origin))] }),
    limiter: createOriginLimiter({ initial: 3, max: 3 }),
    limits: {
      ...DEFAULT_LIMITS,
      requestTimeoutMs: TIMEOUT_MS,
      maxBufferedBytes: MAX_BODY_BYTES,
      maxBodyBytes: MAX_BODY_BYTES,
      maxConnectionsPerOrigin: 3,
      userAgent: USER_AGENT,
    },
  });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const look = (path: string) => fetchPath(fetcher, { site, path, signal });
    const [start, robots, sitemap] = await Promise.all([look('/'), look('/robots.txt'), look('/sitemap.xml')]);
    return [startFinding(start), optionalFinding('robots.txt', robots), optionalFinding('sitemap.xml', sitemap)];
  } finally {
    await fetcher.close();
  }
}

type Fetched = { url: string; status: number | null; contentType: string; body: string; problem: string | null };
type Look = { site: { domain: string; origin: string }; path: string; signal: AbortSignal };

async function fetchPath(fetcher: Fetcher, { site, path, signal }: Look): Promise<Fetched> {
  const url = `https://${site.domain}${path}`;
  const none = { url, status: null, contentType: '', body: '' };
  try {
    const asked = await retryUntilResponse(fetcher, site, {
      url,
      leavesSite: true,
      maxAttempts: 1,
      maxTries: 1,
      signal,
    });
    if (asked.kind === 'nowhere') return { ...none, problem: 'its redirects lead nowhere' };
    if (asked.kind === 'failed') {
      return { ...none, url: asked.url, status: asked.failure.status, problem: asked.failure.reason };
    }
    const { status, contentType, body } = asked.response;
    return { url: asked.url, status, contentType, body: body.toString('utf8'), problem: null };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { ...none, problem: `no response within ${TIMEOUT_MS / 1000} seconds` };
  }
}

// Each is bounded, so that no page makes one of them try every character with every other.
const TITLE = /<title[^<>]{0,200}>([^<]{1,200})/i;
const LINKS = /<a\s[^<>]{0,2000}?\bhref[ \t]{0,9}=[ \t]{0,9}["']?([^"'\s<>]{1,2000})/gi;
const DISALLOWS = /^[ \t]{0,99}disallow:[ \t]{0,99}\S/gim;

function startFinding({ url, status, contentType, body, problem }: Fetched): OriginFinding {
  const what = 'Start page';
  if (problem !== null) return { what, isGood: false, found: `${url}: ${problem}` };
  if (!/\bhtml\b/i.test(contentType)) {
    return { what, isGood: false, found: `${url}: HTTP ${status}, but ${contentType || 'no content type'}, not HTML` };
  }
  const title = TITLE.exec(body)?.[1]?.trim() ?? 'no title';
  const links = new Set([...body.matchAll(LINKS)].map(([, href]) => href)).size;
  return { what, isGood: true, found: `${url}: HTTP ${status}, “${title}”, ${links} links` };
}

function optionalFinding(what: string, { status, body, problem }: Fetched): OriginFinding {
  if (status === 404 || status === 410) return { what, isGood: true, found: 'none: the export follows links instead' };
  if (problem !== null) return { what, isGood: false, found: problem };
  if (what === 'robots.txt') {
    const disallows = [...body.matchAll(DISALLOWS)].length;
    return { what, isGood: true, found: `${disallows} rules that disallow something` };
  }
  return { what, isGood: true, found: `${[...body.matchAll(/<loc>/gi)].length} addresses` };
}
