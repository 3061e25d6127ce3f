import { discover } from '../../../../../platform/activities/export/discovery/discover.ts';
import { readRules } from '../../../../../platform/activities/export/discovery/read-rules.ts';
import { createAddressGuard } from '../../../../../platform/activities/export/fetch/address-guard.ts';
import { createFetcher, type Fetcher } from '../../../../../platform/activities/export/fetch/fetcher.ts';
import { createOriginLimiter } from '../../../../../platform/activities/export/fetch/origin-limiter.ts';
import { type HttpSite, type SiteHandler, serveFiles, startHttpSite } from '../../../../helpers/http-site.ts';

const RULES = 'User-agent: *\nDisallow: /private\nSitemap: /pages.txt\n';
const { signal } = new AbortController();

let server: HttpSite;
let fetcher: Fetcher;

beforeEach(async () => {
  server = await startHttpSite(serveFiles({}));
  fetcher = createFetcher({
    guard: createAddressGuard({ operatorHosts: [server.host] }),
    limiter: createOriginLimiter({ initial: 4, max: 8 }),
    limits: {
      ...{ maxBufferedBytes: 100_000, maxBodyBytes: 100_000, requestTimeoutMs: 1_000 },
      ...{ maxConnectionsPerOrigin: 4, userAgent: 'galley-test' },
    },
  });
});

afterEach(async () => {
  await fetcher.close();
  await server.close();
});

const site = () => ({ domain: 'docs.example.com', origin: server.origin });
const read = (robots: 'respect' | 'ignore', maxAttempts = 1) =>
  readRules(fetcher, site(), { robots, maxAttempts, signal });

/** Fails so many times, and then answers. */
function failing(times: number, fail: SiteHandler): SiteHandler {
  let left = times;
  return (request, response) => {
    left -= 1;
    return left >= 0 ? fail(request, response) : response.end(RULES);
  };
}

const answering =
  (status: number): SiteHandler =>
  (_request, response) =>
    response.writeHead(status).end();
const resetting: SiteHandler = (_request, response) => response.destroy();

describe('the rules of an origin that fails to tell them', () => {
  it.each([
    ['503', answering(503)],
    ['429', answering(429)],
    ['a reset connection', resetting],
  ])('are waited for: after %s it is asked again', async (_name, fail) => {
    server.setHandler(failing(2, fail));
    const startedAt = performance.now();
    expect(await read('respect')).toBe(RULES);
    expect(server.requests).toHaveLength(3);
    // 250 and 500 ms: a clock may be a little early.
    expect(performance.now() - startedAt).toBeGreaterThan(700);
  });

  it.each([
    ['500', answering(500), /HTTP 500, after one try/],
    ['501', answering(501), /HTTP 501, after one try/],
    ['a body that can’t be read', serveFiles({ '/robots.txt': 'x'.repeat(200_000) }), /larger than 100000 bytes/],
  ])('end the job for good, with what to do: %s', async (_name, handler, reason) => {
    server.setHandler(handler);
    const failure = await read('respect').catch((error: unknown) => error);
    expect(failure).toMatchObject({ type: 'ExportImpossible', nonRetryable: true });
    expect(failure).toMatchObject({ message: expect.stringMatching(reason) });
    expect(failure).toMatchObject({ message: expect.stringContaining('https://docs.example.com/robots.txt') });
    expect(failure).toMatchObject({ message: expect.stringMatching(/robots: ignore/) });
  });

  it('end the job after as many late answers as any address gets', async () => {
    server.setHandler(() => undefined);
    await expect(read('respect')).rejects.toThrow(/no whole answer within 1000 ms, after one try/);
  });

  it.each([401, 403, 404, 410, 451])('are none where it answers %i', async (status) => {
    server.setHandler(answering(status));
    expect(await read('respect')).toBe('');
    expect(server.requests).toEqual(['/robots.txt']);
  });

  it('matter to no project that ignores them: the file is a hint to sitemaps then', async () => {
    server.setHandler(answering(500));
    expect(await read('ignore')).toBe('');
    server.setHandler(serveFiles({ '/robots.txt': RULES, '/pages.txt': 'https://docs.example.com/a' }));
    const found = await discover(fetcher, site(), { signal, maxAttempts: 1, maxPages: 100, robotsTxt: RULES });
    expect(found.pages.map((page) => page.url)).toEqual(['https://docs.example.com/a']);
  });
});
