import { readFile, rename, writeFile } from 'node:fs/promises';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { createSharedParts, type DeploymentOptions } from '../../../deployment/deployment.ts';
import { createHostHandler } from '../../../deployment/hosts.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { type BundleSpec, buildBundle, manifestOf, sha256, siteOf } from '../bundles.ts';
import { type Fixture, openFixture, type Running } from '../fixture.ts';

const page = `<title>long</title>${'<p>the same again</p>'.repeat(200)}`;
const noise = Buffer.from(
  Array.from({ length: 3_000 }, (_, index) => sha256(String(index)).charCodeAt(index % 64) * 3),
);
const spec = {
  ...siteOf('1', { 'guides/long.html': page, 'noise.bin': noise, 'app.3f0c2a9b.css': 'a{}'.repeat(500) }),
  redirects: [
    { from: '/old', to: '/guides/start', status: 301 },
    { from: '/away', to: 'https://elsewhere.example/', status: 302 },
  ],
};

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

async function start(
  deployment: object = {},
  options: Partial<DeploymentOptions> = {},
  bundle: BundleSpec = spec,
): Promise<Running> {
  const archive = join(fixture.folder, 'bundle.tar.gz');
  await writeFile(archive, await buildBundle(bundle));
  await write({ staticExport: { enabled: true, bundleUrl: pathToFileURL(archive).href }, deployment });
  const running = await fixture.start(options);
  await running.until('serving', ({ version }) => version === '1');
  return running;
}

async function write(values: object): Promise<void> {
  await writeFile(`${fixture.valuesFile}.new`, JSON.stringify(values));
  await rename(`${fixture.valuesFile}.new`, fixture.valuesFile);
}

/** The response with its raw bytes: fetch would decompress them. */
async function raw(
  url: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<IncomingMessage & { bytes: Buffer }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpGet(url, { headers, method, agent: false }, resolve).on('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  return Object.assign(response, { bytes: Buffer.concat(chunks) });
}

describe('compression on the fly', () => {
  const expand = { br: brotliDecompressSync, gzip: gunzipSync };

  it.each(['br', 'gzip'] as const)(
    'sends a page in %s with a separate ETag that clients can revalidate',
    async (coding) => {
      const { url } = await start();
      const hash = sha256(page);
      for (let time = 0; time < 2; time += 1) {
        const sent = await raw(`${url}/guides/long`, { 'accept-encoding': coding });
        expect(sent.headers).toMatchObject({
          'content-encoding': coding,
          vary: 'Accept-Encoding',
          etag: `"${hash}-${coding}"`,
        });
        // A range has bytes of the file, so it doesn't complete a compressed copy.
        expect(sent.headers['accept-ranges']).toBeUndefined();
        expect(sent.bytes.length).toBeLessThan(page.length / 2);
        expect(expand[coding](sent.bytes).toString()).toBe(page);
        expect(Number(sent.headers['content-length'])).toBe(sent.bytes.length);
      }
      for (const etag of [`"${hash}-${coding}"`, `W/"${hash}-${coding}"`, `"${hash}"`]) {
        const again = await raw(`${url}/guides/long`, { 'accept-encoding': coding, 'if-none-match': etag });
        expect([again.statusCode, again.bytes.length]).toEqual([304, 0]);
        expect(again.headers).toMatchObject({
          vary: 'Accept-Encoding',
          'cache-control': 'no-cache',
          etag: etag.replace('W/', ''),
        });
        expect(again.headers['content-encoding']).toBeUndefined();
      }
      const head = await raw(`${url}/guides/long`, { 'accept-encoding': coding }, 'HEAD');
      expect([head.headers['content-encoding'], head.bytes.length]).toEqual([coding, 0]);
    },
  );

  it('skips ranges, other types and small files', async () => {
    const { url } = await start();
    const part = await raw(`${url}/guides/long`, { 'accept-encoding': 'br', range: 'bytes=0-6' });
    expect([part.statusCode, part.bytes.toString(), part.headers.etag]).toEqual([206, '<title>', `"${sha256(page)}"`]);
    expect(part.headers['accept-ranges']).toBe('bytes');
    for (const path of ['/noise.bin', '/guides/start']) {
      const sent = await raw(url + path, { 'accept-encoding': 'br, gzip' });
      expect([sent.headers['content-encoding'], sent.headers.vary]).toEqual([undefined, undefined]);
    }
  });
});

describe('headers', () => {
  it('have safe defaults and follow changes of the values file', async () => {
    const running = await start();
    const defaults = (await fetch(running.url)).headers;
    expect(Object.fromEntries(defaults)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'x-frame-options': 'SAMEORIGIN',
    });
    const values = JSON.parse(await readFile(fixture.valuesFile, 'utf8'));
    const headers = {
      '/**': { 'x-frame-options': null, 'Strict-Transport-Security': 'max-age=31536000' },
      '/guides/*': { 'Cache-Control': 'public, max-age=60' },
    };
    await write({ ...values, deployment: { headers } });
    const changed = await waitFor(
      async () => {
        const found = (await fetch(`${running.url}/guides/start`)).headers;
        return found.get('x-frame-options') === null ? found : undefined;
      },
      { describe: 'sent the new headers' },
    );
    expect(changed.get('strict-transport-security')).toBe('max-age=31536000');
    expect(changed.get('cache-control')).toBe('public, max-age=60');
    for (const path of ['/', '/nothing', '/old']) {
      const found = (await fetch(running.url + path, { redirect: 'manual' })).headers;
      expect([path, found.get('strict-transport-security')]).toEqual([path, 'max-age=31536000']);
      expect([path, found.get('cache-control')]).not.toEqual([path, 'public, max-age=60']);
    }
  });
});

describe('BASE_PATH', () => {
  it.each(['', '/docs'])(
    '%j does not prefix the redirects of an export that was made for a base path',
    async (basePath) => {
      const redirects = [{ from: '/old', to: '/docs/guides/start', status: 301 }];
      const { url } = await start({}, { basePath }, { ...spec, basePath: '/docs', redirects });
      const { status, headers } = await fetch(`${url}${basePath}/old`, { redirect: 'manual' });
      expect([status, headers.get('location')]).toEqual([301, '/docs/guides/start']);
    },
  );

  it('prefixes the site, its redirects and its endpoints', async () => {
    const { url } = await start({}, { basePath: '/docs' });
    const responses = await Promise.all(
      [
        '/docs',
        '/docs?x=1',
        '/docs/',
        '/docs/guides/start',
        '/docs/guides',
        '/docs/old',
        '/docs/away',
        '/',
        '/docsx',
        '/docs/-/status',
        '/-/healthz',
      ].map(async (path) => {
        const { status, headers } = await fetch(url + path, { redirect: 'manual' });
        return [path, status, headers.get('location')];
      }),
    );
    expect(responses).toEqual([
      ['/docs', 308, '/docs/'],
      ['/docs?x=1', 308, '/docs/'],
      ['/docs/', 200, null],
      ['/docs/guides/start', 200, null],
      ['/docs/guides', 308, '/docs/guides/'],
      ['/docs/old', 301, '/docs/guides/start'],
      ['/docs/away', 302, 'https://elsewhere.example/'],
      ['/', 404, null],
      ['/docsx', 404, null],
      ['/docs/-/status', 200, null],
      ['/-/healthz', 200, null],
    ]);
  });
});

describe('BASIC_AUTH', () => {
  it('requires the password from visitors, but not from probes', async () => {
    const { url } = await start({}, { basicAuth: { user: 'ada', password: 'pass: wörd' } });
    const get = async (path: string, credentials?: string): Promise<Response> => {
      const authorization = `Basic ${Buffer.from(credentials ?? '').toString('base64')}`;
      return await fetch(url + path, credentials === undefined ? {} : { headers: { authorization } });
    };
    const refused = await get('/guides/start');
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="Documentation", charset="UTF-8"',
    ]);
    expect(await refused.text()).not.toContain('start 1');
    for (const wrong of ['ada:', 'ada:pass', 'eve:pass: wörd']) expect((await get('/', wrong)).status).toBe(401);
    expect(await (await get('/guides/start', 'ada:pass: wörd')).text()).toContain('start 1');
    for (const path of ['/-/healthz', '/-/readyz', '/-/status']) expect((await get(path)).status).toBe(200);
  });

  it('lets no cache that visitors share keep a file', async () => {
    const { url } = await start({}, { basicAuth: { user: 'ada', password: 'secret' } });
    const headers = { authorization: `Basic ${Buffer.from('ada:secret').toString('base64')}` };
    const response = await fetch(`${url}/guides/start`, { headers });
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
  });
});

describe('the access log', () => {
  it('has a line for each response, without the query', async () => {
    const lines: Record<string, unknown>[] = [];
    const stream = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    const { url } = await start({}, { accessLog: true, logger: pino({ level: 'info' }, stream) });
    await (await fetch(`${url}/guides/start?token=secret`, { headers: { 'user-agent': 'a test' } })).text();
    const line = await waitFor(() => lines.find(({ path }) => path === '/guides/start'), { describe: 'logged it' });
    expect(line).toMatchObject({
      method: 'GET',
      status: 200,
      remote: '127.0.0.1',
      userAgent: 'a test',
      msg: 'response',
    });
    expect(Number(line.bytes)).toBeGreaterThan(200);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });
});

describe('the kind of a deployment', () => {
  it('determines its capabilities and its content security policy', async () => {
    const { url } = await start({ kind: 'air-gapped', features: { apiPlayground: true }, replicas: 2 });
    expect(await (await fetch(`${url}/-/capabilities`)).json()).toEqual({
      kind: 'air-gapped',
      features: {
        staticExport: { availability: 'yes', enabled: true },
        search: { availability: 'no', enabled: false },
        aiAssistant: { availability: 'no', enabled: false },
        webAnalytics: { availability: 'no', enabled: false },
        apiPlayground: { availability: 'configurable', enabled: true },
      },
    });
    expect((await fetch(url)).headers.get('content-security-policy')).toBe(
      "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; connect-src 'self' http: https:",
    );
  });

  it('rejects network links if it is air-gapped', async () => {
    const requested: string[] = [];
    const store = await fixture.serve((req, res) => {
      requested.push(req.url ?? '');
      res.writeHead(404).end();
    });
    const running = await start();
    await write({ staticExport: { enabled: true, bundleUrl: `${store}/2` }, deployment: { kind: 'air-gapped' } });
    const { lastError, version } = await running.until('refused', (status) => status.lastError !== null);
    expect(lastError?.message).toContain('staticExport.bundleUrl: expected a file link');
    expect([version, requested]).toEqual(['1', []]);
  });
});

describe('several sites in one process', () => {
  it('are selected by host name, with probes and metrics under every name', async () => {
    const shared = createSharedParts();
    const docs = await start({}, { shared, host: 'docs.example.com' });
    const empty = join(fixture.folder, 'empty.yaml');
    await writeFile(empty, '');
    const other = await fixture.start({
      shared,
      host: 'other.example.com',
      valuesFile: empty,
      homeDir: join(fixture.folder, 'b'),
    });
    const handler = createHostHandler(
      [
        { host: 'docs.example.com', deployment: docs.deployment },
        { host: 'other.example.com', deployment: other.deployment },
      ],
      shared.metrics,
    );
    const url = await fixture.serve(handler);
    const get = async (path: string, host: string): Promise<[number | undefined, string]> => {
      const { statusCode, bytes } = await raw(url + path, { host });
      return [statusCode, bytes.toString()];
    };
    expect(await get('/guides/start', 'DOCS.example.com:8080')).toEqual([200, '<title>start 1</title>']);
    expect((await get('/', 'other.example.com'))[0]).toBe(503);
    expect((await get('/', 'unknown.example.com'))[0]).toBe(421);
    expect((await get('/-/status', 'unknown.example.com'))[0]).toBe(404);
    expect((await get('/-/healthz', '10.0.0.1'))[0]).toBe(200);
    expect(await get('/-/readyz', '10.0.0.1')).toEqual([
      503,
      '{"error":"other.example.com: staticExport.enabled is false"}',
    ]);
    expect((await get('/-/readyz', 'docs.example.com'))[0]).toBe(200);
    const [, metrics] = await get('/-/metrics', '10.0.0.1');
    expect(metrics).toContain('galley_deployment_requests_total{host="docs.example.com",status="200"} ');
    expect(metrics).toContain('galley_deployment_requests_total{host="other.example.com",status="503"} 1');
    expect(metrics).toContain('galley_deployment_serving{host="docs.example.com"} 1');
    expect(metrics).toContain('galley_deployment_serving{host="other.example.com"} 0');
    expect(metrics).toContain('galley_deployment_swaps_total{host="docs.example.com"} 1');
    expect(metrics).toContain(
      `galley_deployment_info{host="docs.example.com",domain="${manifestOf(spec).domain}",version="1",job_id="${manifestOf(spec).jobId}",kind="client-hosted"} 1`,
    );
    expect(metrics).toContain('process_resident_memory_bytes');
  });
});
