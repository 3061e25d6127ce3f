import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createAddressGuard } from '../../../exporter/fetch/address-guard.ts';
import { createOriginLimiter } from '../../../exporter/fetch/origin-limiter.ts';
import type { Fetcher } from '../../../exporter/ports.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { createGate } from '../../helpers/system/gate.ts';
import { createSimulatedClock } from './simulated-origin.ts';
import { fetcherFor } from './test-fetcher.ts';

const signal = new AbortController().signal;

let site: HttpSite;
let fetcher: Fetcher;

async function collect(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

beforeEach(async () => {
  site = await startHttpSite((_request, response) => response.end());
  fetcher = fetcherFor([site.host]);
});

afterEach(async () => {
  await fetcher.close();
  await site.close();
});

async function bodyOf(path: string): Promise<string> {
  const result = await fetcher.get(new URL(path, site.origin), { signal });
  if (result.kind !== 'response') throw new Error(`${result.kind}: ${JSON.stringify(result)}`);
  return result.body.toString();
}

describe('the fetcher', () => {
  it.each([
    ['gzip', gzipSync('hello')],
    ['x-gzip', gzipSync('hello')],
    ['deflate', deflateSync('hello')],
    ['br', brotliCompressSync('hello')],
    ['gzip, br', brotliCompressSync(gzipSync('hello'))],
    ['identity', Buffer.from('hello')],
  ])('decodes %s', async (encoding, body) => {
    site.setHandler(serveFiles({ '/': { body, headers: { 'content-encoding': encoding } } }));
    expect(await bodyOf('/')).toBe('hello');
  });

  it.each([
    ['/tool.tar.gz', 'application/x-tar', true],
    ['/tool.tgz?v=1', 'application/gzip', true],
    ['/data.json.gz', 'application/json', true],
    ['/icon.svgz', 'image/svg+xml', false],
    ['/app.js.gz', 'text/javascript', false],
    ['/blob/tool.tar.gz', 'text/html', false],
    ['/tool.tar', 'application/x-tar', false],
  ])('%s of type %s is kept as it is sent: %s', async (path, contentType, isKept) => {
    const body = gzipSync('hello');
    const encodings: unknown[] = [];
    site.setHandler((request, response) => {
      encodings.push(request.headers['accept-encoding']);
      response.writeHead(200, { 'content-type': contentType, 'content-encoding': 'gzip' }).end(body);
    });
    expect(await bodyOf(path)).toBe(isKept ? body.toString() : 'hello');
    expect(encodings).toEqual(['identity']);
  });

  it.each(['gzip', 'zstd'])('reports a body that is not in %s as a failure of this file', async (encoding) => {
    site.setHandler(serveFiles({ '/': { body: 'hello', headers: { 'content-encoding': encoding } } }));
    const result = await fetcher.get(new URL(site.origin), { signal });
    expect(result).toMatchObject({ kind: 'failed', status: 200, soft: false, reason: expect.stringContaining('body') });
  });

  it.each([
    ['UTF-8', 'caf\xc3\xa9', '/caf%C3%A9/start'],
    ['Latin-1', 'caf\xe9', '/caf%E9/start'],
  ])('reads the bytes of a Location in %s as browsers do', async (_, name, path) => {
    site.setHandler((_request, response) => response.writeHead(301, { location: `/${name}/start` }).end());
    expect(await fetcher.get(new URL(site.origin), { signal })).toMatchObject({ location: { pathname: path } });
  });

  it('finds the type of a large body by its first bytes, and says which response a browser would save', async () => {
    const body = Buffer.concat([Buffer.from('%PDF-1.4 '), Buffer.alloc(200_000)]);
    site.setHandler((_request, response) => response.writeHead(200).end(body));
    const types: string[] = [];
    const sink = async (chunks: AsyncIterable<Buffer>, contentType: string) => {
      types.push(contentType);
      expect(await collect(chunks)).toEqual(body);
    };
    const result = await fetcher.get(new URL(site.origin), { signal, sink });
    expect([result, types]).toMatchObject([{ kind: 'sunk', contentType: 'application/pdf' }, ['application/pdf']]);
    const headers = { 'content-disposition': 'attachment; filename=a.html' };
    site.setHandler(serveFiles({ '/': { body: 'hello', headers } }));
    expect(await fetcher.get(new URL(site.origin), { signal })).toMatchObject({ attachment: true });
  });

  it('requests nothing if its signal fires when the request gets its slot', async () => {
    const stop = new AbortController();
    const reason = new Error('the stage has ended');
    const limiter = createOriginLimiter({ initial: 1, max: 1 });
    const acquire = limiter.acquire.bind(limiter);
    limiter.acquire = async (...request) => {
      const release = await acquire(...request);
      stop.abort(reason);
      return release;
    };
    const asked = fetcherFor([site.host], { limiter }).get(new URL(site.origin), { signal: stop.signal });
    await expect(asked).rejects.toBe(reason);
    expect(site.requests).toEqual([]);
  });

  it('keeps its connections alive', async () => {
    const ports = new Set<number | undefined>();
    site.setHandler((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('x');
    });
    for (let i = 0; i < 20; i += 1) await bodyOf('/');
    expect(ports.size).toBeLessThan(9);
  });

  it('passes no more of a gzip bomb to the sink than the maximum body size', async () => {
    const body = gzipSync(Buffer.alloc(50_000_000));
    site.setHandler(serveFiles({ '/': { body, headers: { 'content-encoding': 'gzip' } } }));
    let sunkBytes = 0;
    let decodedBytes = 0;
    const result = await fetcher.get(new URL(site.origin), {
      signal,
      onDecoded: (bytes) => {
        decodedBytes += bytes;
      },
      sink: async (chunks) => {
        for await (const chunk of chunks) sunkBytes += chunk.length;
      },
    });
    expect(result).toMatchObject({
      kind: 'failed',
      soft: false,
      reason: expect.stringContaining('larger than 1000000'),
    });
    expect(sunkBytes).toBeLessThanOrEqual(1_000_000);
    expect(decodedBytes).toBeGreaterThan(1_000_000);
  });

  it('streams a large body to the sink, plain or encoded', async () => {
    const text = Buffer.alloc(400_000, 'abcdefgh');
    site.setHandler(
      serveFiles({
        '/plain': { body: text, contentType: 'video/mp4' },
        '/gzip': { body: gzipSync(text), headers: { 'content-encoding': 'gzip' } },
      }),
    );
    for (const path of ['/plain', '/gzip']) {
      let received: Buffer = Buffer.alloc(0);
      let decodedBytes = 0;
      const result = await fetcher.get(new URL(path, site.origin), {
        signal,
        onDecoded: (bytes) => {
          decodedBytes += bytes;
        },
        sink: async (body) => {
          received = await collect(body);
        },
      });
      expect(result).toMatchObject({ kind: 'sunk', status: 200 });
      expect(received.equals(text)).toBe(true);
      expect(decodedBytes).toBe(text.length);
    }
  });

  it('rejects a body above the limit if there is no sink', async () => {
    site.setHandler(serveFiles({ '/': { body: Buffer.alloc(200_000) } }));
    const result = await fetcher.get(new URL(site.origin), { signal });
    expect(result).toMatchObject({ kind: 'failed', soft: false });
  });

  it('returns a redirect without following it', async () => {
    site.setHandler((_request, response) => response.writeHead(302, { location: '../b?x=1' }).end());
    const result = await fetcher.get(new URL('/docs/a', site.origin), { signal });
    expect(result).toEqual({ kind: 'redirect', status: 302, location: new URL('/b?x=1', site.origin) });
    expect(site.requests).toEqual(['/docs/a']);
  });

  it.each([
    [404, false],
    [403, false],
    [410, false],
    [408, true],
    [429, true],
    [500, true],
    [503, true],
  ])('classifies HTTP %d as soft: %s', async (status, soft) => {
    site.setHandler((_request, response) => response.writeHead(status).end());
    expect(await fetcher.get(new URL(site.origin), { signal })).toMatchObject({ kind: 'failed', status, soft });
  });

  it('reads the body of an error page if its status is accepted', async () => {
    site.setHandler(serveFiles({}));
    const result = await fetcher.get(new URL('/none', site.origin), { signal, acceptStatus: (s) => s === 404 });
    expect(result).toMatchObject({ kind: 'response', status: 404 });
  });

  it('follows Retry-After, and fails without requests after the origin has sent an excessive one', async () => {
    const clock = createSimulatedClock();
    const limited = fetcherFor([site.host], { limiter: createOriginLimiter({ initial: 4, max: 8, clock }) });
    const ask = (path: string) => limited.get(new URL(path, site.origin), { signal });
    const rejectWith = (seconds: string) =>
      site.setHandler((_request, response) => response.writeHead(429, { 'retry-after': seconds }).end());
    rejectWith('120');
    expect(await ask('/1')).toMatchObject({ kind: 'failed', status: 429, soft: true, retryAfterMs: 120_000 });
    const second = ask('/2').then(() => clock.nowMs());
    await new Promise(setImmediate);
    expect(site.requests).toEqual(['/1']);
    rejectWith('999999999');
    await clock.run();
    expect(await second).toBe(120_000);
    const third = ask('/3');
    await clock.run();
    expect(await third).toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
    const reason = 'the origin asks to be left alone for more than 5 minutes';
    expect(await ask('/4')).toMatchObject({ kind: 'failed', soft: false, status: null, reason });
    expect(site.requests).toEqual(['/1', '/2', '/3']);
    await limited.close();
  });

  it('keeps the crawl delay of one export while another export of the same origin ignores it', async () => {
    const clock = createSimulatedClock();
    const limiter = createOriginLimiter({ initial: 4, max: 8, clock });
    const polite = fetcherFor([site.host], { limiter });
    const careless = fetcherFor([site.host], { limiter });
    const ask = (from: Fetcher, path: string) => from.get(new URL(path, site.origin), { signal });
    polite.space(site.origin, 2_000);
    careless.space(site.origin, 0);
    const first = ask(polite, '/polite/1');
    await ask(careless, '/1');
    expect(site.requests).toEqual(['/1']);
    clock.advance(2_000);
    await first;
    careless.space(site.origin, 0);
    const second = ask(polite, '/polite/2');
    clock.advance(1_999);
    await ask(careless, '/2');
    expect(site.requests).toEqual(['/1', '/polite/1', '/2']);
    clock.advance(1);
    expect(await second).toMatchObject({ kind: 'response' });
    await Promise.all([polite.close(), careless.close()]);
  });

  it('classifies a refused or reset connection as soft', async () => {
    site.setHandler((request) => request.socket.destroy());
    expect(await fetcher.get(new URL(site.origin), { signal })).toMatchObject({ kind: 'failed', soft: true });
    await site.close();
    expect(await fetcher.get(new URL(site.origin), { signal })).toMatchObject({ kind: 'failed', soft: true });
  });

  it('does not treat a reset as the end of a body without a length', async () => {
    const sizeBytes = 150_000;
    let reset = (): unknown => undefined;
    site.setHandler((request, response) => {
      reset = () => request.socket.resetAndDestroy();
      response.useChunkedEncodingByDefault = false;
      response.writeHead(200, { connection: 'close' });
      response.write(Buffer.alloc(sizeBytes));
    });
    const result = await fetcher.get(new URL(site.origin), {
      signal,
      sink: async (body) => {
        let received = 0;
        for await (const chunk of body) {
          received += chunk.length;
          if (received === sizeBytes) reset();
        }
      },
    });
    expect(result).toMatchObject({ kind: 'failed', soft: true, reason: 'the connection was closed' });
  });

  it('rejects loopback unless the operator named exactly that host and port', async () => {
    const other = await startHttpSite((_request, response) => response.end('secret'));
    const name = new URL(`http://localhost:${site.port}/`);
    for (const url of [new URL(other.origin), name]) {
      const result = await fetcher.get(url, { signal });
      expect(result).toMatchObject({ kind: 'failed', soft: false, reason: expect.stringContaining('refused') });
    }
    expect(other.requests).toEqual([]);
    expect(site.requests).toEqual([]);
    await other.close();
  });

  it('connects to the address that was checked and looks the name up only once', async () => {
    const lookups: string[] = [];
    const resolve = async (hostname: string): Promise<string[]> => {
      lookups.push(hostname);
      return lookups.length === 1 ? ['127.0.0.1'] : ['192.0.2.1'];
    };
    const operatorHosts = [`pinned.example:${site.port}`];
    const pinned = fetcherFor([], { guard: createAddressGuard({ operatorHosts, resolve }) });
    const hosts: Array<string | undefined> = [];
    site.setHandler((request, response) => {
      hosts.push(request.headers.host);
      response.writeHead(200, { connection: 'close' }).end('x');
    });
    const url = new URL(`http://pinned.example:${site.port}/`);
    for (let i = 0; i < 3; i += 1) expect(await pinned.get(url, { signal })).toMatchObject({ kind: 'response' });
    expect(lookups).toEqual(['pinned.example']);
    expect(new Set(hosts)).toEqual(new Set([`pinned.example:${site.port}`]));
    await pinned.close();
  });

  it('ignores proxy variables', async () => {
    const proxy = await startHttpSite((_request, response) => response.end('from the proxy'));
    const before = { http_proxy: process.env.http_proxy, HTTP_PROXY: process.env.HTTP_PROXY };
    Object.assign(process.env, { http_proxy: proxy.origin, HTTP_PROXY: proxy.origin });
    try {
      site.setHandler((_request, response) => response.end('direct'));
      expect(await bodyOf('/')).toBe('direct');
      expect(proxy.requests).toEqual([]);
    } finally {
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      await proxy.close();
    }
  });

  describe('with a slow body', () => {
    const PIECE = Buffer.alloc(20_000, 'x');
    /** Together they take longer than the timeout of a response's head. */
    const PIECES = 12;
    const PAUSE_MS = 15_000;

    it.each([
      ['kept in memory', { maxBufferedBytes: 1_000_000 }, 'response'],
      ['streamed', { maxBufferedBytes: 10_000 }, 'sunk'],
    ])('waits for the whole body while it makes progress, %s', async (_name, limits, kind) => {
      const clock = createSimulatedClock();
      const limited = fetcherFor([site.host], { clock, limits });
      const requested = createGate();
      let send = (_piece: Buffer): unknown => undefined;
      let end = (): unknown => undefined;
      site.setHandler((_request, response) => {
        response.writeHead(200, { 'content-type': 'video/mp4' }).flushHeaders();
        send = (piece) => response.write(piece);
        end = () => response.end();
        requested.open();
      });
      let sunkBytes = 0;
      let onSunk = (): void => undefined;
      const sunkUpTo = (bytes: number): Promise<void> =>
        new Promise((resolve) => {
          onSunk = () => {
            if (sunkBytes >= bytes) resolve();
          };
        });
      const responded = createGate();
      const pending = limited.get(new URL(site.origin), {
        signal,
        onResponse: () => responded.open(),
        sink: async (body) => {
          for await (const piece of body) {
            sunkBytes += piece.length;
            onSunk();
          }
        },
      });
      await requested.pass();
      await responded.pass();
      for (let count = 0; count < PIECES; count += 1) {
        // The fetcher reads the clock for each piece.
        const received = kind === 'sunk' ? sunkUpTo((count + 1) * PIECE.length) : clock.untilRead();
        send(PIECE);
        await received;
        clock.advance(PAUSE_MS);
      }
      end();
      const result = await pending;
      expect(result).toMatchObject({ kind, status: 200 });
      expect(result.kind === 'response' ? result.body.length : sunkBytes).toBe(PIECES * PIECE.length);
      expect(site.requests).toEqual(['/']);
      await limited.close();
    });

    it('fails when the body stalls, and closes the connection', async () => {
      const clock = createSimulatedClock();
      const limited = fetcherFor([site.host], { clock });
      const closed = createGate();
      site.setHandler((_request, response) => {
        response.on('close', () => closed.open());
        response.writeHead(200, { 'content-length': '50000' });
        response.write('the beginning');
      });
      const received = clock.untilRead(3);
      const pending = limited.get(new URL(site.origin), { signal });
      await received;
      clock.advance(60_000);
      const reason = 'the body stalled: nothing came for 20 seconds';
      expect(await pending).toMatchObject({ kind: 'failed', soft: true, late: true, status: null, reason });
      await closed.pass();
      await limited.close();
    });
  });

  it('rejects at once when its signal fires', async () => {
    const controller = new AbortController();
    site.setHandler(() => controller.abort(new Error('enough')));
    const pending = fetcher.get(new URL(site.origin), { signal: controller.signal });
    await expect(pending).rejects.toThrow('enough');
  });
});
