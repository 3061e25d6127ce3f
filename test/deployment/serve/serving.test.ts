import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildBundle, manifestOf, siteOf } from '../bundles.ts';
import { type Fixture, openFixture, type Running } from '../fixture.ts';

const spec = {
  ...siteOf('1', {
    'assets/app.DtHmvp7M.js': 'console.log(1)',
    'assets/data.bin': Buffer.from('0123456789'),
    'feed.xml': '<feed/>',
    'mislabeled.js': 'console.log(2)',
    '.well-known/security.txt': 'Contact: mailto:a@example.com',
  }),
  redirects: [{ from: '/new', to: '/日本/straße?q=%C3%9F#ü', status: 302 }],
  contentTypes: { 'feed.xml': 'application/atom+xml', 'mislabeled.js': 'text/plain' },
};

let fixture: Fixture;
let running: Running;
let bundleUrl: string;
beforeAll(async () => {
  fixture = await openFixture();
  const archive = join(fixture.folder, 'bundle.tar.gz');
  await writeFile(archive, await buildBundle(spec));
  bundleUrl = pathToFileURL(archive).href;
  await fixture.writeValues({ enabled: true, bundleUrl });
  running = await fixture.start();
  await running.until('serving', ({ version }) => version === '1');
});
afterAll(() => fixture.close());

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(running.url + path, { method, headers, redirect: 'manual' });
}

/** Sends a path unchanged: fetch would normalize it. */
function rawStatus(path: string): Promise<number> {
  const { hostname, port } = new URL(running.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject).end();
  });
}

describe('a site from an air-gapped file', () => {
  it('sends pages with their type, a strong ETag and safe headers', async () => {
    const response = await get('/guides/start');
    const file = manifestOf(spec).files.find(({ path }) => path === 'guides/start.html');
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      etag: `"${file?.sha256}"`,
      'cache-control': 'no-cache',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
    });
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(response.headers.get('last-modified')).toBeNull();
  });

  it('uses the content types of its manifest, except those that a browser would block', async () => {
    expect((await get('/feed.xml')).headers.get('content-type')).toBe('application/atom+xml');
    expect((await get('/mislabeled.js')).headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  });

  it('responds with 304 if If-None-Match matches, and with 412 if If-Match does not', async () => {
    const etag = (await get('/')).headers.get('etag') ?? '';
    const same = await get('/', { 'if-none-match': `"other", ${etag}`, 'cache-control': 'max-age=0' });
    expect([same.status, await same.text()]).toEqual([304, '']);
    expect((await get('/', { 'if-none-match': '"other"' })).status).toBe(200);
    expect((await get('/', { 'if-match': '"other"' })).status).toBe(412);
  });

  it('supports range requests', async () => {
    const part = await get('/assets/data.bin', { range: 'bytes=2-4' });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10']);
    const tail = await get('/assets/data.bin', { range: 'bytes=-3' });
    expect([tail.status, await tail.text()]).toEqual([206, '789']);
    for (const [suffix, status] of [
      ['-9999999999', 206],
      ['-10', 206],
      ['-0', 416],
    ] as const) {
      const whole = await get('/assets/data.bin', { range: `bytes=${suffix}` });
      expect([suffix, whole.status, await whole.text()]).toEqual([suffix, status, status === 206 ? '0123456789' : '']);
    }
    const beyond = await get('/assets/data.bin', { range: 'bytes=50-' });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    const changed = await get('/assets/data.bin', { range: 'bytes=2-4', 'if-range': '"other"' });
    expect([changed.status, await changed.text()]).toEqual([200, '0123456789']);
  });

  it('responds to HEAD as to GET, without the body', async () => {
    const [head, full] = [await get('/', {}, 'HEAD'), await get('/')];
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const name of ['etag', 'content-length', 'content-type']) {
      expect(head.headers.get(name)).toBe(full.headers.get(name));
    }
  });

  it('encodes the location of a redirect, which no cache keeps, because the next version may lack it', async () => {
    const response = await get('/new');
    expect([response.status, response.headers.get('location'), response.headers.get('cache-control')]).toEqual([
      302,
      '/%E6%97%A5%E6%9C%AC/stra%C3%9Fe?q=%C3%9F#%C3%BC',
      'no-store',
    ]);
  });

  it('responds to unknown paths with 404 and the whole not-found page of the site', async () => {
    for (const headers of [{}, { range: 'bytes=0-1' }, { 'if-none-match': '*' }]) {
      const response = await get('/nothing', headers);
      expect([response.status, await response.text()]).toEqual([404, '<title>not found 1</title>']);
      expect(response.headers.get('cache-control')).toBe('no-cache');
    }
  });

  it('responds with 304 to a client that has the not-found page, and to no other', async () => {
    const etag = (await get('/nothing')).headers.get('etag') ?? '';
    const same = await get('/nothing', { 'if-none-match': etag, 'cache-control': 'max-age=0' });
    expect([same.status, await same.text(), same.headers.get('etag')]).toEqual([304, '', etag]);
    const home = (await get('/')).headers.get('etag') ?? '';
    for (const headers of [{ 'if-none-match': home }, { 'if-match': '"other"' }]) {
      expect((await get('/nothing', { ...headers, 'cache-control': 'max-age=0' })).status).toBe(404);
    }
  });

  it('runs no script in its own pages, and only their style', async () => {
    const response = await get('/', {}, 'POST');
    const style = /<style>(.*?)<\/style>/.exec(await response.text())?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(response.headers.get('content-security-policy')).toBe(`default-src 'none'; style-src 'sha256-${hash}'`);
  });

  it('serves files that begin with a dot, but never the manifest', async () => {
    expect((await get('/.well-known/security.txt')).status).toBe(200);
    expect((await get('/.galley/manifest.json')).status).toBe(404);
  });

  it('responds with 404 to a path outside its folder, and with 400 to a malformed path', async () => {
    expect(await rawStatus('/../state.json')).toBe(404);
    expect(await rawStatus('/%00')).toBe(400);
    expect(await rawStatus('other')).toBe(400);
  });

  it('accepts a request line with the scheme and host', async () => {
    for (const target of [
      'http://localhost',
      'http://localhost?x=1',
      'HTTPS://any.example/',
      'http://localhost/-/status',
    ])
      expect([target, await rawStatus(target)]).toEqual([target, 200]);
    expect(await rawStatus('http://localhost/nothing')).toBe(404);
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
    'responds to %s with 405 and the allowed methods',
    async (method) => {
      for (const path of ['/', '/nothing', '/-/status']) {
        const response = await get(path, {}, method);
        expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      }
    },
  );
});

describe('the endpoints below /-/', () => {
  it('return the status, uncached', async () => {
    const response = await get('/-/status');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({
      state: 'serving',
      version: '1',
      jobId: spec.jobId,
      contentSha256: manifestOf(spec).contentSha256,
      bundlePath: createHash('sha256').update(bundleUrl).digest('hex'),
      stale: false,
      lastError: null,
      since: expect.stringMatching(/^\d{4}-/),
    });
  });

  it('report that the deployment is alive and ready', async () => {
    expect((await get('/-/healthz')).status).toBe(200);
    expect((await get('/-/readyz')).status).toBe(200);
  });

  it('return errors as {error}', async () => {
    const missing = await get('/-/other');
    expect([missing.status, await missing.json()]).toEqual([404, { error: 'there is no /-/other' }]);
    expect(await (await get('/-/status', {}, 'POST')).json()).toEqual({ error: 'POST is not possible here' });
  });
});
