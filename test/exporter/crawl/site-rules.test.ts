import { discover, readSitemap } from '../../../exporter/crawl/discover.ts';
import { crawlPlan, readRules } from '../../../exporter/crawl/site-rules.ts';
import type { Fetcher } from '../../../exporter/ports.ts';
import { crawlDelayMs } from '../../../exporter/urls/robots.ts';
import { type HttpSite, type SiteHandler, serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { fetcherFor } from '../fetch/test-fetcher.ts';

const RULES = 'User-agent: *\nDisallow: /private\nSitemap: /pages.txt\n';
const { signal } = new AbortController();

let server: HttpSite;
let fetcher: Fetcher;
let pausesMs: number[];

beforeEach(async () => {
  server = await startHttpSite(serveFiles({}));
  fetcher = fetcherFor([server.host]);
  pausesMs = [];
});

afterEach(async () => {
  await fetcher.close();
  await server.close();
});

const site = () => ({ domain: 'docs.example.com', origin: server.origin });
const pause = async (ms: number): Promise<void> => void pausesMs.push(ms);
const read = (robots: 'respect' | 'ignore', from = fetcher) =>
  readRules(from, site(), { robots, maxAttempts: 1, signal, pause });

/** Fails `times` times, then responds with the rules. */
function failing(times: number, fail: SiteHandler): SiteHandler {
  let left = times;
  return (request, response) => {
    left -= 1;
    return left >= 0 ? fail(request, response) : response.end(RULES);
  };
}

const respondWith =
  (status: number): SiteHandler =>
  (_request, response) =>
    response.writeHead(status).end();
const resetting: SiteHandler = (_request, response) => response.destroy();

describe('readRules', () => {
  it.each([
    ['503', respondWith(503)],
    ['429', respondWith(429)],
    ['a reset connection', resetting],
  ])('retries after %s with growing delays', async (_name, fail) => {
    server.setHandler(failing(2, fail));
    expect(await read('respect')).toBe(RULES);
    expect(server.requests).toHaveLength(3);
    expect(pausesMs).toEqual([250, 500]);
  });

  it.each([
    ['500', respondWith(500), /HTTP 500, after one try/],
    ['501', respondWith(501), /HTTP 501, after one try/],
    ['a body that is too large', serveFiles({ '/robots.txt': 'x'.repeat(200_000) }), /larger than 100000 bytes/],
  ])('fails the job permanently after %s and says what to do', async (_name, handler, reason) => {
    server.setHandler(handler);
    const failure = await read('respect').catch((error: unknown) => error);
    expect(failure).toMatchObject({ type: 'ExportImpossible', nonRetryable: true });
    expect(failure).toMatchObject({ message: expect.stringMatching(reason) });
    expect(failure).toMatchObject({ message: expect.stringContaining("/robots.txt (at its origin) can't be read") });
    expect(failure).toMatchObject({ message: expect.stringMatching(/robots: ignore/) });
  });

  it('fails the job after the maximum number of late responses', async () => {
    server.setHandler(() => undefined);
    const hasty = fetcherFor([server.host], { limits: { requestTimeoutMs: 50 } });
    await expect(read('respect', hasty)).rejects.toThrow(
      /no response within 50 ms, after one try.*set the origin of its project/,
    );
    await hasty.close();
  });

  it.each([401, 403, 404, 410, 451])('finds no rules if the origin responds with %i', async (status) => {
    server.setHandler(respondWith(status));
    expect(await read('respect')).toBe('');
    expect(server.requests).toEqual(['/robots.txt']);
  });

  it('ignores a failure if the project ignores the rules, but still reads the sitemaps that the file names', async () => {
    server.setHandler(respondWith(500));
    expect(await read('ignore')).toBe('');
    server.setHandler(serveFiles({ '/robots.txt': RULES, '/pages.txt': 'https://docs.example.com/a' }));
    const found = await discover({ fetcher, readSitemap }, site(), {
      signal,
      maxAttempts: 1,
      maxPages: 100,
      robotsTxt: RULES,
    });
    expect(found.pages.map((page) => page.url)).toEqual(['https://docs.example.com/a']);
  });
});

const LIMITS = { soloCrawlMs: 4_000, activityMs: 50_000, parallelActivities: 4 };
const slow = { robots: 'respect', robotsTxt: 'User-agent: *\nCrawl-delay: 10' } as const;

describe('crawlPlan', () => {
  it('shares a crawl among activities by default', () => {
    expect(crawlPlan(LIMITS, { robots: 'respect', robotsTxt: '' })).toEqual(LIMITS);
  });

  it('lets only one activity crawl, for long enough, if the origin sets a Crawl-delay', () => {
    expect(crawlPlan(LIMITS, slow)).toEqual({ soloCrawlMs: 200_000, activityMs: 200_000, parallelActivities: 1 });
    const quick = { ...slow, robotsTxt: 'User-agent: *\nCrawl-delay: 1' };
    expect(crawlPlan(LIMITS, quick)).toEqual({ soloCrawlMs: 50_000, activityMs: 50_000, parallelActivities: 1 });
  });

  it('has no delay if the project ignores robots.txt', () => {
    expect(crawlDelayMs(slow)).toBe(10_000);
    expect(crawlDelayMs({ ...slow, robots: 'ignore' })).toBe(0);
    expect(crawlPlan(LIMITS, { ...slow, robots: 'ignore' })).toEqual(LIMITS);
  });
});
