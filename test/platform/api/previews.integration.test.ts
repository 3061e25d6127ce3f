import { sql } from 'drizzle-orm';
import { exportJob, exportPreview } from '../../../contract/admin-api.ts';
import { createKey } from '../../../platform/admin/api-keys.ts';
import { buildMemberBundle } from '../../deployment/member-bundle.ts';
import type { Customer, TestPlatform } from '../../helpers/platform-api.ts';
import type { ApiClient } from './api-client.ts';
import { useApi } from './api-fixture.ts';

const JOBS = '/v1/static-export/jobs';
const DAY_MS = 86_400_000;

const FILES = {
  'index.html': '<a href="guides/start.html">Start</a>',
  'guides/start.html': '<title>Start</title>',
  'feed/index.xml': '<rss/>',
  'styles/größe.css': 'body{}',
  '404.html': '<title>Not here</title>',
  'video.mp4': Buffer.alloc(3_000_000, 'v'),
};
const SITE = {
  files: FILES,
  basePath: '/docs',
  urls: { 'guides/start.html': '/guides/start', 'feed/index.xml': '/feed/' },
  contentTypes: { 'feed/index.xml': 'application/rss+xml' },
  redirects: [
    { from: '/old', to: '/docs/guides/start', status: 301 },
    { from: '/out', to: 'https://other.example/', status: 302 },
  ],
};

describe('previews of exports', () => {
  let platform: TestPlatform;
  let api: ApiClient;
  let customer: Customer;

  useApi((fixture) => {
    ({ platform, api } = fixture);
  });
  beforeEach(async () => {
    customer = await platform.addCustomer();
  });

  const start = async (): Promise<string> => {
    const { body } = await api.post(JOBS, { key: customer.key, body: { domain: customer.domain } });
    return exportJob.parse(body).jobId;
  };
  const exported = async (site: Parameters<typeof buildMemberBundle>[0] = SITE): Promise<string> => {
    const jobId = await start();
    await platform.complete(jobId, await buildMemberBundle({ ...site, jobId }));
    return jobId;
  };
  const ask = (jobId: string, key = customer.key) => api.post(`${JOBS}/${jobId}/preview`, { key });
  const preview = async (jobId: string) => {
    const { status, body } = await ask(jobId);
    expect(status).toBe(201);
    return exportPreview.parse(body);
  };
  const get = (url: string, init: RequestInit = {}) => fetch(url, { redirect: 'manual', ...init });

  it('serves each file as a deployment would, for a day', async () => {
    const { previewUrl, expiresAt } = await preview(await exported());
    expect(previewUrl).toMatch(new RegExp(`^${platform.baseUrl}/previews/[\\w-]{32}/$`));
    expect(Date.parse(expiresAt) - platform.now()).toBeGreaterThan(DAY_MS - 60_000);

    const shown = async (path: string) => {
      const response = await get(previewUrl + path);
      return [response.status, response.headers.get('content-type'), await response.text()];
    };
    const html = 'text/html; charset=utf-8';
    expect(await shown('')).toEqual([200, html, FILES['index.html']]);
    expect(await shown('?from=mail')).toEqual([200, html, FILES['index.html']]);
    expect(await shown('guides/start')).toEqual([200, html, FILES['guides/start.html']]);
    expect(await shown('feed/')).toEqual([200, 'application/rss+xml', FILES['feed/index.xml']]);
    expect(await shown('styles/gr%C3%B6%C3%9Fe.css')).toEqual([200, 'text/css; charset=utf-8', 'body{}']);
    expect(await shown('missing')).toEqual([404, html, FILES['404.html']]);
    expect(await shown('a%00b')).toEqual([400, 'application/json; charset=utf-8', expect.any(String)]);
    const video = await get(`${previewUrl}video.mp4`);
    expect(Buffer.from(await video.arrayBuffer())).toEqual(FILES['video.mp4']);

    const target = async (path: string) => (await get(previewUrl + path)).headers.get('location');
    expect(await target('guides/start.html')).toBe(`${previewUrl}guides/start`);
    expect(await target('old')).toBe(`${previewUrl}guides/start`);
    expect(await target('out')).toBe('https://other.example/');
    expect((await get(previewUrl.slice(0, -1))).headers.get('location')).toBe(previewUrl);

    platform.advance(DAY_MS);
    expect((await get(previewUrl)).status).toBe(404);
    platform.advance(-DAY_MS);
  });

  it('is not indexed, sets no cookies, runs in a sandbox and does not leak its URL', async () => {
    const { previewUrl } = await preview(await exported());
    const response = await get(previewUrl);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-robots-tag': 'noindex',
      'content-security-policy': 'sandbox allow-scripts',
      'referrer-policy': 'no-referrer',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    });
    expect(response.headers.get('set-cookie')).toBeNull();
    const etag = response.headers.get('etag') ?? '';
    expect((await get(previewUrl, { headers: { 'if-none-match': etag } })).status).toBe(304);
    const head = await get(previewUrl, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(FILES['index.html'].length)]);
    expect((await get(previewUrl, { method: 'POST' })).status).toBe(405);
  });

  it('needs a completed job of the caller, and a key that may change something', async () => {
    const running = await start();
    expect((await ask(running)).status).toBe(409);
    await platform.complete(running, await buildMemberBundle(SITE));
    const other = await platform.addCustomer();
    expect((await ask(running, other.key)).status).toBe(404);
    expect((await ask('se_0000000000000000')).status).toBe(404);
    const { key } = await createKey(platform.db, { organization: customer.organization, name: 'CI', scope: 'read' });
    expect((await ask(running, key)).status).toBe(403);
    const free = await platform.addCustomer({ plan: 'free' });
    expect((await ask(running, free.key)).status).toBe(404);
    expect((await get(`${platform.baseUrl}/previews/${'x'.repeat(32)}/`)).status).toBe(404);
  });

  it('ends with the export', async () => {
    const jobId = await exported();
    const { previewUrl } = await preview(jobId);
    await platform.db.execute(
      sql`update export_jobs set archive_key = null, report_key = null, expired_at = now() where id = ${jobId}`,
    );
    expect((await get(previewUrl)).status).toBe(410);
    expect((await ask(jobId)).status).toBe(410);
    await platform.db.execute(sql`delete from export_jobs where id = ${jobId}`);
    expect((await get(previewUrl)).status).toBe(404);
  });

  it('shows several exports at once, each with its own files', async () => {
    const urls: string[] = [];
    for (const text of ['1', '2', '3', '4', '5', '6']) {
      urls.push((await preview(await exported({ files: { 'index.html': text } }))).previewUrl);
    }
    const texts = await Promise.all([...urls, ...urls].map(async (url) => (await get(url)).text()));
    expect(texts.join('')).toBe('123456123456');
  });
});
