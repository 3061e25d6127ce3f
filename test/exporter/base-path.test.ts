import { exportArchive } from '../helpers/export-archive.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';

let site: HttpSite;
beforeAll(async () => {
  site = await startHttpSite(() => {});
  const html = { 'content-type': 'text/html; charset=utf-8' };
  const sitemap = `<urlset><url><loc>${site.origin}/guides/start</loc></url><url><loc>/docs/mounted</loc></url></urlset>`;
  const responses: Record<string, { status?: number; headers: Record<string, string>; body?: string }> = {
    '/': {
      headers: html,
      body: `<link rel=canonical href="${site.origin}/"><meta property="og:image" content="/card.png"><a href="/guides/start">a</a><a href="/old">b</a><a href="/gone">c</a>`,
    },
    '/guides/start': { headers: html, body: '<link rel=canonical href="https://docs.example.com/guides/start">' },
    '/docs/mounted': { headers: html, body: '<link rel="canonical" href="https://docs.example.com/docs/mounted">' },
    '/old': { status: 301, headers: { location: '/guides/start' } },
    '/card.png': { headers: { 'content-type': 'image/png' }, body: 'png' },
    '/sitemap.xml': { headers: { 'content-type': 'application/xml' }, body: sitemap },
  };
  site.setHandler((request, response) => {
    const { status = 200, headers, body = '' } = responses[request.url ?? ''] ?? { status: 404, headers: html };
    response.writeHead(status, headers).end(body);
  });
});
afterAll(() => site.close());

describe('an export with a base path', () => {
  it('has it in canonical, sitemap and redirect URLs once; files and links stay', async () => {
    const { files, manifest } = await exportArchive(site.origin, { basePath: '/docs' });
    const home = files.get('index.html') ?? '';
    expect(home).toContain('rel=canonical href="https://docs.example.com/docs/"');
    expect(home).toContain('content="https://docs.example.com/docs/card.png"');
    expect(home).toContain('<a href="guides/start.html">a</a><a href="guides/start.html">b</a>');
    expect(files.get('guides/start.html')).toContain('href="https://docs.example.com/docs/guides/start"');
    expect(files.get('docs/mounted.html')).toContain('href="https://docs.example.com/docs/mounted"');
    const sitemap = files.get('sitemap.xml') ?? '';
    expect([...sitemap.matchAll(/<loc>([^<]*)/g)].map(([, url]) => url)).toEqual([
      'https://docs.example.com/docs/guides/start',
      'https://docs.example.com/docs/mounted',
    ]);
    expect(manifest).toMatchObject({
      basePath: '/docs',
      redirects: [{ from: '/old', to: '/docs/guides/start', status: 301 }],
    });
  });

  it('without one has the URLs of the domain, and its manifest no base path', async () => {
    const { files, manifest } = await exportArchive(site.origin);
    expect(files.get('index.html')).toContain('rel=canonical href="https://docs.example.com/"');
    expect(manifest.redirects).toEqual([{ from: '/old', to: '/guides/start', status: 301 }]);
    expect(manifest).not.toHaveProperty('basePath');
  });
});
