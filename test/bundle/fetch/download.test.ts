import { readdir, readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { BundleInvalidError, BundleUnavailableError } from '../../../bundle/errors.ts';
import { type Download, downloadBundle, prepareDownload } from '../../../bundle/fetch/download.ts';
import { sha256 } from '../../deployment/bundles.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';
import { emptiedFolder } from '../../helpers/temporary-folder.ts';

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

async function failure(link: string, options = {}): Promise<unknown> {
  return await download(link, options).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a download', () => {
  it('resumes where it broke off', async () => {
    const requested: unknown[] = [];
    let cut = (): void => undefined;
    const origin = await serve((req, res) => {
      requested.push([req.headers.range, req.headers['if-range']]);
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
    // Cut only after some bytes have arrived, else there is nothing to resume.
    const broken = await failure(`${origin}/b`, { onProgress: () => cut() });
    expect(broken).toMatchObject({ name: 'BundleUnavailableError', pace: 'soon' });
    const done = await download(`${origin}/b?fresh`);
    expect(done).toMatchObject({ kind: 'fetched', sha256: sha256(bytes), sizeBytes: bytes.length, etag: '"a"' });
    expect(requested).toEqual([
      [undefined, undefined],
      [expect.stringMatching(/^bytes=[1-9]/), '"a"'],
    ]);
  });

  it('that arrived whole before anyone used it is not repeated while the server calls it unchanged', async () => {
    let etag = '"a"';
    let sent = 0;
    const origin = await serve((req, res) => {
      if (req.headers['if-none-match'] === etag) return void res.writeHead(304).end();
      sent++;
      res.writeHead(200, { etag, 'content-length': bytes.length }).end(bytes);
    });
    for (const sends of [1, 1, 2]) {
      if (sends === 2) etag = '"b"';
      expect(await download(`${origin}/b`)).toMatchObject({ kind: 'fetched', sha256: sha256(bytes), etag });
      expect(sent).toBe(sends);
    }
  });

  it('restarts if the bytes have changed or the server has no ranges', async () => {
    let isFirst = true;
    let cut = (): void => undefined;
    const origin = await serve((_req, res) => {
      res.writeHead(200, { etag: isFirst ? '"a"' : '"b"' });
      cut = isFirst ? () => res.destroy() : () => undefined;
      if (isFirst) res.write(Buffer.alloc(120_000));
      else res.end(bytes);
      isFirst = false;
    });
    await failure(`${origin}/b`, { onProgress: () => cut() });
    expect(await download(`${origin}/b`)).toMatchObject({ sha256: sha256(bytes), etag: '"b"' });
  });

  it('fails if the response ends early', async () => {
    const origin = await serve((_req, res) => {
      res.writeHead(200, { 'content-length': bytes.length });
      res.write(bytes.subarray(0, 10), () => res.socket?.end());
    });
    expect(await failure(`${origin}/b`)).toMatchObject({ pace: 'soon' });
  });

  it('transfers nothing if the ETag is unchanged', async () => {
    const origin = await serve((req, res) =>
      res.writeHead(req.headers['if-none-match'] === '"a"' ? 304 : 200).end('x'),
    );
    expect(await download(`${origin}/b`, { etag: '"a"' })).toEqual({ kind: 'unchanged' });
    expect(await download(`${origin}/b`, { etag: '"old"' })).toMatchObject({ kind: 'fetched' });
  });

  it('stops at the maximum size, with and without a Content-Length', async () => {
    const origin = await serve((req, res) => {
      if (req.url === '/announced') res.setHeader('content-length', bytes.length);
      for (let start = 0; start < bytes.length; start += 10_000) res.write(bytes.subarray(start, start + 10_000));
      res.end();
    });
    for (const path of ['/announced', '/not']) {
      expect(await failure(origin + path, { maxSizeBytes: 50_000 })).toBeInstanceOf(BundleInvalidError);
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it('removes the files of other bundles, and so does its preparation', async () => {
    const origin = await serve((_req, res) => res.end('x'));
    await download(`${origin}/one`);
    const second = await download(`${origin}/two`);
    expect(second.kind === 'fetched' && (await readFile(second.file, 'utf8'))).toBe('x');
    expect(await readdir(folder)).toHaveLength(1);
    await prepareDownload(new URL(`${origin}/three`), folder);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([401, 403, 404, 410])('is retried slowly after %d, without leaking the signature', async (status) => {
    const origin = await serve((_req, res) => res.writeHead(status).end('<Error>Request has expired</Error>'));
    const error = await failure(`${origin}/b?signature=secret`);
    expect(error).toMatchObject({ pace: 'slowly', status });
    expect(String(error)).toContain('expired');
    expect(String(error)).not.toContain('secret');
  });

  it.each([429, 500, 502, 503])('is retried soon after %d, respecting Retry-After', async (status) => {
    const origin = await serve((_req, res) => res.writeHead(status, { 'retry-after': '7' }).end());
    expect(await failure(`${origin}/b`)).toMatchObject({ pace: 'soon', status, retryAfterMs: 7_000 });
  });

  it('reports a refused connection, without leaking the signature', async () => {
    const origin = await serve(() => undefined);
    await Promise.all(servers.map(({ close }) => close()));
    const error = await failure(`${origin}/b?signature=secret`);
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
      const error = await failure(`${origin}/b`);
      expect(error).toMatchObject({ pace: 'slowly' });
    },
  );

  it('fails after too many redirects', async () => {
    let hops = 0;
    const origin = await serve((_req, res) => {
      hops += 1;
      res.writeHead(302, { location: '/again' }).end();
    });
    expect(String(await failure(`${origin}/b`))).toContain('in circles');
    expect(hops).toBe(6);
  });

  it('fails if the file is missing or is a folder', async () => {
    expect(await failure('file:///no/such/bundle.tar.gz')).toMatchObject({ pace: 'soon' });
    expect(String(await failure(`file://${folder}`))).toContain('not a file');
  });
});
