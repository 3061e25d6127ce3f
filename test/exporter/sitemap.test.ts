import { exportArchive } from '../helpers/export-archive.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../helpers/http-site.ts';

let site: HttpSite;
beforeEach(async () => {
  site = await startHttpSite(() => {});
});
afterEach(() => site.close());

async function sitemapOf(files: Parameters<typeof serveFiles>[0]): Promise<string | undefined> {
  site.setHandler(serveFiles(files));
  return (await exportArchive(site.origin)).files.get('sitemap.xml');
}

const PAGES = {
  '/': '<a href="/a?x=1&amp;y=2">A</a><a href="/b.html">B</a><a href="/c/">C</a>',
  '/b.html': 'B',
  '/c/': 'C',
};

describe('the sitemap of an export', () => {
  it('is made if the origin has none: the public URLs of all pages, the same each time', async () => {
    const files = { ...PAGES, '/a?x=1&y=2': 'A', '/404.html': 'Not here' };
    const made = await sitemapOf(files);
    expect(made).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
        ...['/', '/a?x=1&amp;y=2', '/b.html', '/c/'].map(
          (path) => `<url><loc>https://docs.example.com${path}</loc></url>`,
        ),
        '</urlset>\n',
      ].join('\n'),
    );
    expect(await sitemapOf(files)).toBe(made);
  });

  it('is that of the origin if it has one', async () => {
    const own = {
      body: '<urlset><url><loc>https://docs.example.com/b.html</loc></url></urlset>',
      contentType: 'text/xml',
    };
    expect(await sitemapOf({ ...PAGES, '/sitemap.xml': own })).toBe(own.body);
    const robots = { body: `Sitemap: ${site.origin}/pages.xml`, contentType: 'text/plain' };
    expect(await sitemapOf({ ...PAGES, '/robots.txt': robots, '/pages.xml': own })).toBeUndefined();
  });
});
