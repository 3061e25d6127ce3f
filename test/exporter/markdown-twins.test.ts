import { twinUrl } from '../../exporter/urls/twin-url.ts';
import { exportArchive } from '../helpers/export-archive.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../helpers/http-site.ts';

const MARKDOWN = { body: '# Title\n', contentType: 'text/markdown; charset=utf-8' };
const text = (body: string) => ({ body, contentType: 'text/plain' });

let site: HttpSite;
beforeEach(async () => {
  site = await startHttpSite(() => {});
});
afterEach(() => site.close());

/** The pages of an export that have a twin, and all its Markdown files. */
async function twinsOf(files: Parameters<typeof serveFiles>[0]): Promise<{ pages: string[]; markdown: string[] }> {
  site.setHandler(serveFiles(files));
  const { manifest } = await exportArchive(site.origin);
  return {
    pages: manifest.files.flatMap(({ path, markdown }) => (markdown === undefined ? [] : [`${path} ${markdown}`])),
    markdown: manifest.files.map(({ path }) => path).filter((path) => path.endsWith('.md') || path.startsWith('llms')),
  };
}

describe('the Markdown twins of an export', () => {
  it('are those that llms.txt names, without a request for others', async () => {
    const found = await twinsOf({
      '/': '<a href="/a">A</a><a href="/b">B</a><a href="/c/">C</a>',
      ...{ '/a': 'A', '/b': 'B', '/c/': 'C' },
      '/llms.txt': text('# Site\n\n- [A](/a.md): about A\n- [C](/c/index.html.md)\n- `[B](/b.md)`\n'),
      '/llms-full.txt': text('# All\n\n[B](/b.md)\n'),
      ...{ '/a.md': MARKDOWN, '/b.md': MARKDOWN, '/c/index.html.md': text('# C\n') },
    });
    expect(found).toEqual({
      pages: ['a.html a.md', 'c/index.html c/index.html.md'],
      markdown: ['a.md', 'c/index.html.md', 'llms-full.txt', 'llms.txt'],
    });
    expect(site.requests.filter((path) => path.endsWith('.md')).sort()).toEqual([
      ...['/a.md', '/c/index.html.md', '/index.html.md', '/index.md'],
    ]);
  });

  it('are those that pages name', async () => {
    const link = '<link rel="alternate" type="text/markdown" href="/raw/home.txt">';
    const found = await twinsOf({ '/': `${link}Home`, '/raw/home.txt': MARKDOWN });
    expect(found.pages).toEqual(['index.html raw/home.txt']);
    const named = link.replace('.txt', '.md');
    expect((await twinsOf({ '/': `${named}Home`, '/raw/home.md': MARKDOWN })).pages).toEqual([
      'index.html raw/home.md',
    ]);
    expect((await twinsOf({ '/': `${named}Home` })).pages).toEqual([]);
  });

  it.each([
    ['index', { '/index.md': MARKDOWN, '/a.md': MARKDOWN, '/b/index.md': MARKDOWN, '/c.md': MARKDOWN }],
    ['sibling', { '/index.md': MARKDOWN, '/a.md': MARKDOWN, '/b.md': MARKDOWN, '/c.md': MARKDOWN }],
    [
      'appended',
      { '/index.html.md': MARKDOWN, '/a.md': MARKDOWN, '/b/index.html.md': MARKDOWN, '/c.html.md': MARKDOWN },
    ],
  ])('are found at the usual URLs (%s) if the first pages have them', async (_, twins) => {
    const found = await twinsOf({
      '/': '<a href="/a">A</a><a href="/b/">B</a><a href="/c.html">C</a><a href="/d">D</a>',
      ...{ '/a': 'A', '/b/': 'B', '/c.html': 'C', '/d': 'D' },
      '/sitemap.xml': {
        body: `<urlset><url><loc>${site.origin}/a</loc></url><url><loc>${site.origin}/b/</loc></url></urlset>`,
        contentType: 'text/xml',
      },
      ...twins,
    });
    expect(found.markdown).toEqual(
      Object.keys(twins)
        .map((path) => path.slice(1))
        .sort(),
    );
    expect(found.pages).toHaveLength(4);
    expect(site.requests).toContain('/d.md');
  });

  it('are not requested if one of the first pages has none', async () => {
    const found = await twinsOf({
      '/': '<a href="/a">A</a><a href="/b">B</a>',
      ...{ '/a': 'A', '/b': 'B' },
      '/sitemap.xml': { body: `<urlset><url><loc>${site.origin}/a</loc></url></urlset>`, contentType: 'text/xml' },
      ...{ '/index.md': MARKDOWN, '/b.md': MARKDOWN, '/a.md': '<p>Not here</p>' },
    });
    expect(found.markdown).toEqual([]);
    expect(site.requests).not.toContain('/b.md');
  });

  it.each([
    ['https://a.example/', 'index', '/index.md'],
    ['https://a.example/', 'sibling', '/index.md'],
    ['https://a.example/x/', 'sibling', '/x.md'],
    ['https://a.example/x.html?q=1', 'index', '/x.md'],
    ['https://a.example/x.html', 'appended', '/x.html.md'],
    ['https://a.example/x', 'appended', '/x.md'],
  ] as const)('of %s (%s) is at %s', (page, form, path) => {
    expect(twinUrl(page, form)).toBe(`https://a.example${path}`);
  });
});
