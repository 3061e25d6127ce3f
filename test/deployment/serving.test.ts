import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildBundle, manifestOf, siteOf } from './bundles.ts';
import { type Fixture, openFixture, type Running } from './fixture.ts';

const spec = {
  ...siteOf('1', {
    'assets/app.DtHmvp7M.js': 'console.log(1)',
    'assets/data.bin': Buffer.from('0123456789'),
    'feed.xml': '<feed/>',
    'mislabelled.js': 'console.log(2)',
    '.well-known/security.txt': 'Contact: mailto:a@example.com',
  }),
  redirects: [{ from: '/new', to: '/日本/straße?q=%C3%9F#ü', status: 302 }],
  contentTypes: { 'feed.xml': 'application/atom+xml', 'mislabelled.js': 'text/plain' },
};

let fixture: Fixture;
let running: Running;
beforeAll(async () => {
  fixture = await openFixture();
  const archive = join(fixture.folder, 'bundle.tar.gz');
  await writeFile(archive, await buildBundle(spec));
  await fixture.writeValues({ enabled: true, bundleUrl: pathToFileURL(archive).href });
  running = await fixture.start();
  await running.until('serving', ({ version }) => version === '1');
});
afterAll(() => fixture.close());

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(running.url + path, { method, headers, redirect: 'manual' });
}

/** Sends a path as it is: fetch would tidy it first. */
function rawStatus(path: string): Promise<number> {
  const { hostname, port } = new URL(running.url);
  return new Promise((resolve, reject) => {
    const asking = request({ hostname, port, path }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asking.on('error', reject).end();
  });
}

describe('a site from an air-gapped file', () => {
  it('answers pages with their type, a strong ETag and headers that leave the site alone', async () => {
    const answer = await get('/guides/start');
    const file = manifestOf(spec).files.find(({ path }) => path === 'guides/start.html');
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      etag: `"${file?.sha256}"`,
      'cache-control': 'public, no-cache',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.headers.get('x-powered-by')).toBeNull();
    expect(answer.headers.get('last-modified')).toBeNull();
  });

  it('keeps the types of its manifest, but never one that a browser would refuse', async () => {
    expect((await get('/feed.xml')).headers.get('content-type')).toBe('application/atom+xml');
    expect((await get('/mislabelled.js')).headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  });

  it('answers 304 to a client that has the bytes, and 412 to one that insists on others', async () => {
    const etag = (await get('/')).headers.get('etag') ?? '';
    const same = await get('/', { 'if-none-match': `"other", ${etag}`, 'cache-control': 'max-age=0' });
    expect([same.status, await same.text()]).toEqual([304, '']);
    expect((await get('/', { 'if-none-match': '"other"' })).status).toBe(200);
    expect((await get('/', { 'if-match': '"other"' })).status).toBe(412);
  });

  it('answers ranges', async () => {
    const part = await get('/assets/data.bin', { range: 'bytes=2-4' });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10']);
    const tail = await get('/assets/data.bin', { range: 'bytes=-3' });
    expect([tail.status, await tail.text()]).toEqual([206, '789']);
    const beyond = await get('/assets/data.bin', { range: 'bytes=50-' });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    const changed = await get('/assets/data.bin', { range: 'bytes=2-4', 'if-range': '"other"' });
    expect([changed.status, await changed.text()]).toEqual([200, '0123456789']);
  });

  it('answers HEAD as GET without the body', async () => {
    const [head, full] = [await get('/', {}, 'HEAD'), await get('/')];
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const name of ['etag', 'content-length', 'content-type']) {
      expect(head.headers.get(name)).toBe(full.headers.get(name));
    }
  });

  it('answers a redirect to an address in any script, encoded', async () => {
    const answer = await get('/new');
    expect([answer.status, answer.headers.get('location')]).toEqual([
      302,
      '/%E6%97%A5%E6%9C%AC/stra%C3%9Fe?q=%C3%9F#%C3%BC',
    ]);
  });

  it('answers what it does not have with its own not-found page, whole and with 404', async () => {
    for (const headers of [{}, { range: 'bytes=0-1' }, { 'if-none-match': '*' }]) {
      const answer = await get('/nothing', headers);
      expect([answer.status, await answer.text()]).toEqual([404, '<title>not found 1</title>']);
      expect(answer.headers.get('cache-control')).toBe('no-cache');
    }
  });

  it('shows files that begin with a dot, but never the manifest', async () => {
    expect((await get('/.well-known/security.txt')).status).toBe(200);
    expect((await get('/.galley/manifest.json')).status).toBe(404);
  });

  it('answers 404 to a path that leaves its folder, and 400 to one that is malformed', async () => {
    expect(await rawStatus('/../state.json')).toBe(404);
    expect(await rawStatus('/%00')).toBe(400);
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('answers %s with 405 and what is possible', async (method) => {
    for (const path of ['/', '/nothing', '/-/status']) {
      const answer = await get(path, {}, method);
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  });
});

describe('the address /-/', () => {
  it('says the status, uncached', async () => {
    const answer = await get('/-/status');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toMatchObject({
      state: 'serving',
      version: '1',
      jobId: spec.jobId,
      contentSha256: manifestOf(spec).contentSha256,
      stale: false,
      lastError: null,
      since: expect.stringMatching(/^\d{4}-/),
    });
  });

  it('says that it is alive and ready', async () => {
    expect((await get('/-/healthz')).status).toBe(200);
    expect((await get('/-/readyz')).status).toBe(200);
  });

  it('answers errors as {error}', async () => {
    const missing = await get('/-/other');
    expect([missing.status, await missing.json()]).toEqual([404, { error: 'there is no /-/other' }]);
    expect(await (await get('/-/status', {}, 'POST')).json()).toEqual({ error: 'POST is not possible here' });
  });
});
