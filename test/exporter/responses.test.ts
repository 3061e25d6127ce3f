import { deflateRawSync, gzipSync } from 'node:zlib';
import { exportArchive } from '../helpers/export-archive.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';

let site: HttpSite;
beforeAll(async () => {
  site = await startHttpSite(() => {});
});
afterAll(() => site.close());

type Response = { body?: string | Buffer; status?: number; headers?: Record<string, string> };

const HTML = { 'content-type': 'text/html; charset=utf-8' };

/** Serves these responses by their path, with exactly their headers, and 404 for all others. */
function serve(responses: Readonly<Record<string, Response>>): void {
  site.setHandler((request, response) => {
    const { body = '', status = 200, headers = HTML } = responses[request.url ?? ''] ?? { status: 404 };
    response.writeHead(status, headers).end(body);
  });
}

const pagesOf = (files: Map<string, string>): string[] =>
  [...files.keys()].filter((path) => path.endsWith('.html') && path !== '404.html');

describe('an export', () => {
  it('has the pages of all codings that browsers show, and reports the others alone', async () => {
    const links = ['utf8', 'none', 'aws', 'aws-gzip', 'deflate', 'trailing', 'zstd', 'wrong'];
    const coded = (coding: string, body: string | Buffer): Response => ({
      body,
      headers: { ...HTML, 'content-encoding': coding },
    });
    serve({
      '/': { body: links.map((name) => `<a href="/${name}">${name}</a>`).join('') },
      '/utf8': coded('UTF-8', '<title>utf8</title>'),
      '/none': coded('none', '<title>none</title>'),
      '/aws': coded('aws-chunked', '<title>aws</title>'),
      '/aws-gzip': coded('aws-chunked,gzip', gzipSync('<title>aws-gzip</title>')),
      '/deflate': coded('deflate', deflateRawSync('<title>deflate</title>')),
      '/trailing': coded('gzip', Buffer.concat([gzipSync('<title>trailing</title>'), Buffer.from('junk')])),
      '/zstd': coded('zstd', '?'),
      '/wrong': coded('gzip', 'no gzip'),
    });
    const { files, report } = await exportArchive(site.origin);
    for (const name of links.slice(0, 6)) expect(files.get(`${name}.html`)).toBe(`<title>${name}</title>`);
    expect(report.brokenLinks).toMatchObject([
      { url: 'https://docs.example.com/wrong', status: 200, reason: expect.stringContaining("can't be decoded") },
      { url: 'https://docs.example.com/zstd', status: 200, reason: expect.stringContaining('zstd') },
    ]);
  });

  it('finds pages by their bytes if the origin names no type, and follows their links', async () => {
    serve({ '/': { body: '<!doctype html><title>home</title><a href=/a>a</a>', headers: {} }, '/a': { body: 'a' } });
    const { files, manifest } = await exportArchive(site.origin);
    expect(manifest.pageCount).toBe(2);
    expect(files.get('index.html')).toContain('<a href=a.html>');
  });

  it.each([
    ['application/pdf', { 'content-type': 'application/pdf' }],
    ['text/plain', { 'content-type': 'text/plain' }],
    ['text/html', { ...HTML, 'content-disposition': 'attachment' }],
  ])('without any page, but %s, fails with the reason', async (type, headers) => {
    serve({ '/': { body: '<title>x</title>', headers } });
    await expect(exportArchive(site.origin)).rejects.toThrow(
      `The export has no page: https://docs.example.com/ (at its origin) is no HTML page, but ${type}`,
    );
  });

  it('keeps compressed files and attachments byte for byte', async () => {
    const archive = gzipSync('a tar file');
    const attached = '<a href="/tool.tar.gz">stays</a>';
    serve({
      '/': { body: '<a href="/tool.tar.gz">tool</a><a href="/report">report</a>' },
      '/tool.tar.gz': {
        body: archive,
        headers: { 'content-type': 'application/x-tar', 'content-encoding': 'gzip' },
      },
      '/report': { body: attached, headers: { ...HTML, 'content-disposition': 'attachment; filename=report.html' } },
    });
    const { files, manifest } = await exportArchive(site.origin);
    expect(files.get('tool.tar.gz')).toBe(archive.toString());
    expect(files.get('report.html')).toBe(attached);
    expect(manifest.pageCount).toBe(1);
  });

  it('follows a Location in raw UTF-8', async () => {
    serve({
      '/': { body: '<a href="/old">old</a>' },
      '/old': { status: 301, headers: { location: `/${Buffer.from('café').toString('latin1')}/start` } },
      '/caf%C3%A9/start': { body: '<title>café</title>' },
    });
    const { files, manifest } = await exportArchive(site.origin);
    expect(files.get('index.html')).toBe('<a href="caf%C3%A9/start.html">old</a>');
    expect(manifest.redirects).toEqual([{ from: '/old', to: '/caf%C3%A9/start', status: 301 }]);
    expect(site.requests).toContain('/caf%C3%A9/start');
  });

  it('has an empty .nojekyll without requesting it', async () => {
    serve({ '/': { body: 'home' } });
    const { files, manifest } = await exportArchive(site.origin);
    expect([files.get('.nojekyll'), manifest.pageCount]).toEqual(['', 1]);
    expect(site.requests).not.toContain('/.nojekyll');
  });

  it("keeps the names in a site's own folders _external, _long and .galley, beside our own", async () => {
    const long = `/${'folder/'.repeat(160)}x.png`;
    const port = site.origin.split(':').at(-1);
    const other = `http://localhost:${port}/a.png`;
    const own = [`/_external/localhost_${port}/a.png`, '/_external/a.png', '/_long/x.png', '/.galley/a.png'];
    serve({
      '/': { body: [...own, long, other].map((url) => `<img src="${url}">`).join('') },
      ...Object.fromEntries([...own, long, '/a.png'].map((url) => [url, { body: url, headers: {} }])),
    });
    const { files, manifest } = await exportArchive(site.origin, { privateHosts: [`localhost:${port}`] });
    for (const url of own.slice(0, 3)) expect([url, files.get(url.slice(1))]).toEqual([url, url]);
    const urlOf = (body: string) => manifest.files.find(({ path }) => files.get(path) === body)?.url;
    expect([urlOf('/.galley/a.png'), urlOf(long)]).toEqual(['/.galley/a.png', long]);
    expect(pagesOf(files)).toEqual(['index.html']);
    for (const [, path = ''] of (files.get('index.html') ?? '').matchAll(/src="([^"]+)"/g))
      expect(files.has(path)).toBe(true);
    expect([...files.values()]).toContain('/a.png');
  });
});
