import { readdir, readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { type Download, downloadBundle } from '../../deployment/download.ts';
import { BundleInvalidError, BundleUnavailableError } from '../../deployment/errors.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';
import { sha256 } from './bundles.ts';

const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));

const folder = emptiedFolder();
const servers: HttpSite[] = [];
afterEach(() => Promise.all(servers.splice(0).map(({ close }) => close())));

async function serve(handler: RequestListener): Promise<string> {
  const server = await startHttpSite(handler);
  servers.push(server);
  return server.origin;
}

function download(
  link: string,
  options: { etag?: string; maxSizeBytes?: number; onProgress?: () => void } = {},
): Promise<Download> {
  const { etag, maxSizeBytes = 1_000_000, onProgress = () => undefined } = options;
  const signal = AbortSignal.timeout(120_000);
  return downloadBundle({ link: new URL(link), etag, folder, maxSizeBytes, signal, onProgress });
}

async function refusal(link: string, options = {}): Promise<unknown> {
  return await download(link, options).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a download', () => {
  it('that broke off goes on where it ended', async () => {
    const asked: unknown[] = [];
    let cut = (): void => undefined;
    const origin = await serve((req, res) => {
      asked.push([req.headers.range, req.headers['if-range']]);
      if (req.headers.range === undefined) {
        res.writeHead(200, { etag: '"a"', 'content-length': bytes.length });
        cut = () => res.destroy();
        res.write(bytes.subarray(0, 120_000));
        return;
      }
      const start = Number(/bytes=(\d+)-/.exec(req.headers.range)?.[1]);
      res.writeHead(206, { etag: '"a"', 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` });
      res.end(bytes.subarray(start));
    });
    // Cut only after some bytes have arrived, else there is nothing to go on from.
    const broken = await refusal(`${origin}/b`, { onProgress: () => cut() });
    expect(broken).toMatchObject({ name: 'BundleUnavailableError', pace: 'soon' });
    const done = await download(`${origin}/b?fresh`);
    expect(done).toMatchObject({ kind: 'fetched', sha256: sha256(bytes), sizeBytes: bytes.length, etag: '"a"' });
    expect(asked).toEqual([
      [undefined, undefined],
      [expect.stringMatching(/^bytes=[1-9]/), '"a"'],
    ]);
  });

  it('begins again if the server has other bytes by then, or no ranges', async () => {
    let isFirst = true;
    let cut = (): void => undefined;
    const origin = await serve((_req, res) => {
      res.writeHead(200, { etag: isFirst ? '"a"' : '"b"' });
      cut = isFirst ? () => res.destroy() : () => undefined;
      if (isFirst) res.write(Buffer.alloc(120_000));
      else res.end(bytes);
      isFirst = false;
    });
    await refusal(`${origin}/b`, { onProgress: () => cut() });
    expect(await download(`${origin}/b`)).toMatchObject({ sha256: sha256(bytes), etag: '"b"' });
  });

  it('distinguishes a response that ends early from a whole one', async () => {
    const origin = await serve((_req, res) => {
      res.writeHead(200, { 'content-length': bytes.length });
      res.write(bytes.subarray(0, 10), () => res.socket?.end());
    });
    expect(await refusal(`${origin}/b`)).toMatchObject({ pace: 'soon' });
  });

  it('costs nothing if the server says that nothing changed', async () => {
    const origin = await serve((req, res) =>
      res.writeHead(req.headers['if-none-match'] === '"a"' ? 304 : 200).end('x'),
    );
    expect(await download(`${origin}/b`, { etag: '"a"' })).toEqual({ kind: 'unchanged' });
    expect(await download(`${origin}/b`, { etag: '"old"' })).toMatchObject({ kind: 'fetched' });
  });

  it('stops at the size allowed, announced or not', async () => {
    const origin = await serve((req, res) => {
      if (req.url === '/announced') res.setHeader('content-length', bytes.length);
      for (let start = 0; start < bytes.length; start += 10_000) res.write(bytes.subarray(start, start + 10_000));
      res.end();
    });
    for (const path of ['/announced', '/not']) {
      expect(await refusal(origin + path, { maxSizeBytes: 50_000 })).toBeInstanceOf(BundleInvalidError);
    }
  });

  it('leaves nothing of other bundles lying about', async () => {
    const origin = await serve((_req, res) => res.end('x'));
    await download(`${origin}/one`);
    const second = await download(`${origin}/two`);
    expect(second.kind === 'fetched' && (await readFile(second.file, 'utf8'))).toBe('x');
    expect(await readdir(folder)).toHaveLength(1);
  });

  it.each([401, 403, 404, 410])('answered %d asks for a new link', async (status) => {
    const origin = await serve((_req, res) => res.writeHead(status).end('<Error>Request has expired</Error>'));
    const error = await refusal(`${origin}/b?signature=secret`);
    expect(error).toMatchObject({ pace: 'slowly', status });
    expect(String(error)).toContain('expired');
    expect(String(error)).not.toContain('secret');
  });

  it.each([429, 500, 502, 503])('answered %d is tried again soon, when the server says', async (status) => {
    const origin = await serve((_req, res) => res.writeHead(status, { 'retry-after': '7' }).end());
    expect(await refusal(`${origin}/b`)).toMatchObject({ pace: 'soon', status, retryAfterMs: 7_000 });
  });

  it('from nowhere is tried again soon', async () => {
    const origin = await serve(() => undefined);
    await Promise.all(servers.map(({ close }) => close()));
    const error = await refusal(`${origin}/b?signature=secret`);
    expect(error).toBeInstanceOf(BundleUnavailableError);
    expect(String(error)).toContain('ECONNREFUSED');
    expect(String(error)).not.toContain('secret');
  });

  it('follows redirects, also to another host, without the credentials of the first', async () => {
    const seen: (string | undefined)[] = [];
    const store = await serve((req, res) => {
      seen.push(req.headers.authorization);
      res.end(bytes);
    });
    const origin = await serve((req, res) => {
      seen.push(req.headers.authorization);
      res.writeHead(302, { location: `${store}/b` }).end();
    });
    expect(await download(`${origin.replace('//', '//ada:p%40ss@')}/b`)).toMatchObject({ sha256: sha256(bytes) });
    expect(seen).toEqual([`Basic ${Buffer.from('ada:p@ss').toString('base64')}`, undefined]);
  });

  it.each(['file:///etc/passwd', 'ftp://x.example/', 'data:,x', ''])(
    'never follows a redirect to %j',
    async (location) => {
      const origin = await serve((_req, res) => res.writeHead(302, { location }).end());
      const error = await refusal(`${origin}/b`);
      expect(error).toMatchObject({ pace: 'slowly' });
    },
  );

  it('ends if redirects go in circles', async () => {
    let hops = 0;
    const origin = await serve((_req, res) => {
      hops += 1;
      res.writeHead(302, { location: '/again' }).end();
    });
    expect(String(await refusal(`${origin}/b`))).toContain('in circles');
    expect(hops).toBe(6);
  });

  it('of a file that is not there, or is a folder, says so', async () => {
    expect(await refusal('file:///no/such/bundle.tar.gz')).toMatchObject({ pace: 'soon' });
    expect(String(await refusal(`file://${folder}`))).toContain('not a file');
  });
});
