import { gzipSync } from 'node:zlib';
import { type Discovery, discover, readSitemap } from '../../../exporter/crawl/discover.ts';
import { readRules } from '../../../exporter/crawl/site-rules.ts';
import { DEFAULT_LIMITS } from '../../../exporter/limits.ts';
import type { Fetcher } from '../../../exporter/ports.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { fetcherFor } from '../fetch/test-fetcher.ts';

const options = { signal: new AbortController().signal, maxPages: 1_000, maxAttempts: 1 } as const;
const urlset = (...pages: string[]) =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${pages
    .map((page) => `<url><loc>${page}</loc><lastmod>2026-01-01</lastmod></url>`)
    .join('')}</urlset>`;

let server: HttpSite;
let fetcher: Fetcher;

beforeEach(async () => {
  server = await startHttpSite(serveFiles({}));
  fetcher = fetcherFor([server.host]);
});

afterEach(async () => {
  await fetcher.close();
  await server.close();
});

const NOTHING = { robotsTxt: '', sitemaps: [], pages: [] };
const site = () => ({ domain: 'docs.example.com', origin: server.origin });

/** Reads robots.txt, then the sitemaps that it names. */
async function readOrigin(from = fetcher): Promise<Discovery & { robotsTxt: string }> {
  const robotsTxt = await readRules(from, site(), { ...options, robots: 'respect' });
  return { robotsTxt, ...(await discover({ fetcher: from, readSitemap }, site(), { ...options, robotsTxt })) };
}

describe('discover', () => {
  it('reads sitemaps from robots.txt and /sitemap.xml: indexes, gzip, text lists, entities', async () => {
    server.setHandler(
      serveFiles({
        '/robots.txt': 'Sitemap: https://docs.example.com/index.xml\nSitemap: https://elsewhere.example/x.xml\n',
        '/index.xml': `<sitemapindex><sitemap><loc>https://docs.example.com/packed.xml.gz</loc></sitemap>
          <sitemap><loc>/list.txt</loc></sitemap><sitemap><loc>https://docs.example.com/index.xml</loc></sitemap></sitemapindex>`,
        '/packed.xml.gz': { body: gzipSync(urlset('https://docs.example.com/a?x=1&amp;y=2')) },
        '/list.txt': 'https://docs.example.com/b\nhttps://elsewhere.example/c\n',
        '/sitemap.xml': urlset(`${server.origin}/d`, '<![CDATA[https://docs.example.com/e]]>'),
      }),
    );
    const found = await readOrigin();
    expect(found.pages.map((page) => page.url).sort()).toEqual([
      'https://docs.example.com/a?x=1&y=2',
      'https://docs.example.com/b',
      'https://docs.example.com/d',
      'https://docs.example.com/e',
    ]);
    expect(found.sitemaps.map((url) => new URL(url).pathname).sort()).toEqual([
      '/index.xml',
      '/list.txt',
      '/packed.xml.gz',
      '/sitemap.xml',
    ]);
  });

  it('continues without rules and sitemaps if the origin has none or sends invalid ones', async () => {
    expect(await readOrigin()).toEqual(NOTHING);
    server.setHandler((_request, response) => response.writeHead(403).end());
    expect(await readOrigin()).toEqual(NOTHING);
    server.setHandler(serveFiles({ '/sitemap.xml': { body: Buffer.from([0x1f, 0x8b, 1, 2, 3]) } }));
    expect(await readOrigin()).toEqual(NOTHING);
    server.setHandler(serveFiles({ '/robots.txt': { body: '', status: 302, headers: { location: '/robots.txt' } } }));
    expect(await readOrigin()).toEqual(NOTHING);
  });

  it('reads a limited number of sitemaps, however many an index lists', async () => {
    const entries = (count: number, make: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => `<sitemap><loc>${make(index)}</loc></sitemap>`).join('');
    const index = (count: number, make: (index: number) => string) =>
      `<sitemapindex>${entries(count, make)}</sitemapindex>`;
    const files = {
      '/robots.txt': 'Sitemap: /others.xml\nSitemap: /own.xml',
      '/others.xml': index(1_000, (each) => `http://e${each}.org`),
      '/own.xml': index(150_000, (each) => `/${each}.xml`),
    };
    server.setHandler(serveFiles(files));
    const roomy = fetcherFor([server.host], {
      limits: { maxBufferedBytes: 50_000_000, maxBodyBytes: 50_000_000 },
    });
    const { sitemaps } = await readOrigin(roomy);
    await roomy.close();
    expect(sitemaps.map((url) => new URL(url).pathname)).toEqual(['/others.xml', '/own.xml']);
    expect(server.requests).toHaveLength(501);
    expect(server.requests).toContain('/496.xml');
  });

  it.each([
    ['of 20 MiB', 20, ['/first', '/last']],
    ['larger than the protocol allows', 51, []],
  ])('reads a sitemap %s with the limits of a crawl', async (_name, mebibytes, pages) => {
    const filler = `<!--${' '.repeat(mebibytes * 1024 ** 2)}-->`;
    server.setHandler(
      serveFiles({ '/sitemap.xml': urlset('/first').replace('</urlset>', `${filler}${urlset('/last')}`) }),
    );
    const { maxBufferedBytes, maxFileBytes: maxBodyBytes } = DEFAULT_LIMITS;
    const usual = fetcherFor([server.host], { limits: { maxBufferedBytes, maxBodyBytes } });
    const found = await readOrigin(usual);
    await usual.close();
    expect(found.pages.map(({ url }) => new URL(url).pathname)).toEqual(pages);
  });

  it('follows a redirect to another host for robots.txt, but not for a sitemap', async () => {
    const other = await startHttpSite(serveFiles({ '/robots.txt': 'User-agent: *\nDisallow: /private' }));
    const redirect = (path: string) => ({ body: '', status: 301, headers: { location: other.origin + path } });
    server.setHandler(serveFiles({ '/robots.txt': redirect('/robots.txt'), '/sitemap.xml': redirect('/s.xml') }));
    const both = fetcherFor([server.host, other.host]);
    expect((await readOrigin(both)).robotsTxt).toContain('Disallow: /private');
    expect(other.requests).toEqual(['/robots.txt']);
    await both.close();
    await other.close();
  });

  it('fetches several sitemaps concurrently, but keeps their order', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const index = names.map((name) => `<sitemap><loc>/${name}.xml</loc></sitemap>`).join('');
    const files = Object.fromEntries(names.map((name) => [`/${name}.xml`, urlset(`/page-${name}`)]));
    const respond = serveFiles({ ...files, '/sitemap.xml': `<sitemapindex>${index}</sitemapindex>` });
    const fourthRequested = new Promise<void>((resolve) => {
      server.setHandler(async (request, response) => {
        if (request.url === '/d.xml') resolve();
        if (request.url === '/a.xml') await fourthRequested;
        return respond(request, response);
      });
    });
    const { pages } = await readOrigin();
    expect(pages.map(({ url }) => new URL(url).pathname)).toEqual(names.map((name) => `/page-${name}`));
    expect(server.requests).toHaveLength(2 + names.length);
  });

  it('follows a redirect within the site', async () => {
    server.setHandler(
      serveFiles({
        '/sitemap.xml': { body: '', status: 302, headers: { location: '/real.xml' } },
        '/real.xml': urlset('https://docs.example.com/a'),
      }),
    );
    expect((await readOrigin()).pages).toHaveLength(1);
  });
});
