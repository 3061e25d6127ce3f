import { twinUrl } from '../../exporter/urls/twin-url.ts';
import type { ProjectSettings } from '../../platform/project-settings.ts';
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

describe('--markdown on', () => {
  const on: { settings: Partial<ProjectSettings> } = { settings: { markdown: 'on', precompress: ['gzip'] } };
  const files = (): Parameters<typeof serveFiles>[0] => ({
    '/': `<main><h1>Home</h1><a href="/a">A</a> <a href="${site.origin}/b/?q=1#x">B</a> <a href="/gone">gone</a></main>`,
    '/a': '<link rel="alternate" type="text/markdown" href="/raw.txt"><p>A <a href="/c">C</a>',
    '/raw.txt': MARKDOWN,
    '/b/?q=1': `<main><p>${'Text. '.repeat(300)}<a href="/a">A</a><img src="/i.png"><code>${site.origin}/a</code></main>`,
    '/c': 'C',
    '/c.md': { ...MARKDOWN, body: `[A](${site.origin}/a) and \`${site.origin}/a\`` },
    '/i.png': { body: 'png', contentType: 'image/png' },
    '/llms.txt': text(`[C](${site.origin}/c.md) [A](/a)`),
    '/llms-full.txt': text(`# All\n\n[A](${site.origin}/a)\n\n    ${site.origin}/a\n`),
  });

  it('makes the twins that are missing, and the same ones again', async () => {
    site.setHandler(serveFiles(files()));
    const exported = await exportArchive(site.origin, {}, on);
    const { manifest, report } = exported;
    const pages = manifest.files.flatMap(({ path, markdown }) => (markdown === undefined ? [] : [[path, markdown]]));
    const b = manifest.files.find(({ path }) => /^b\/index\..*html$/.test(path))?.path ?? '';
    expect(Object.fromEntries(pages)).toEqual({
      'a.html': 'raw.txt',
      [b]: `${b}.md`,
      'c.html': 'c.md',
      'index.html': 'index.html.md',
    });
    expect(report.markdown).toEqual({ fetched: 2, made: 2 });
    expect(report.sitemapMade).toBe(true);
    const paths = manifest.files.map(({ path }) => path);
    expect(paths).toEqual([...paths].sort());
    expect(paths).toContain(`${b}.md.gz`);
    const twin = manifest.files.find(({ path }) => path === 'index.html.md');
    expect(twin).toMatchObject({ contentType: 'text/markdown; charset=utf-8' });
    const again = await exportArchive(site.origin, { pieceBytes: 1, batchFiles: 2 }, on);
    expect(again.manifest.contentSha256).toBe(manifest.contentSha256);
  });

  it('has links to the exported places, and no address of the origin but in text and code', async () => {
    site.setHandler(serveFiles(files()));
    const { files: contents, manifest } = await exportArchive(site.origin, {}, on);
    const b = manifest.files.find(({ path }) => /^b\/index\..*html$/.test(path))?.path ?? '';
    expect(contents.get('index.html.md')).toBe(
      `# Home\n\n[A](a.html) [B](${b}#x) [gone](https://docs.example.com/gone)\n`,
    );
    expect(contents.get(`${b}.md`)).toContain(`[A](../a.html)![](../i.png)\`${site.origin}/a\``);
    expect(contents.get('c.md')).toBe(`[A](https://docs.example.com/a) and \`${site.origin}/a\``);
    expect(contents.get('llms.txt')).toBe('[C](https://docs.example.com/c.md) [A](/a)');
    expect(contents.get('llms-full.txt')).toContain('[A](https://docs.example.com/a)');
  });

  it('leaves names that the site has itself, and its sitemap', async () => {
    const body = `<urlset><url><loc>${site.origin}/a</loc></url></urlset>`;
    const SITEMAP = { '/sitemap.xml': { body, contentType: 'text/xml' } };
    site.setHandler(
      serveFiles({
        '/': '<a href="/a">A</a><a href="/index.html.md/x">x</a>',
        ...{ '/a': 'A', '/index.html.md/x': text('x'), ...SITEMAP },
      }),
    );
    const { manifest, report } = await exportArchive(site.origin, {}, on);
    expect(manifest.files.flatMap(({ markdown }) => markdown ?? [])).toEqual(['a.html.md']);
    expect(report.markdown).toEqual({ fetched: 0, made: 1 });
    expect(report.sitemapMade).toBeUndefined();
  });

  it('names a page that it could not read', async () => {
    site.setHandler(serveFiles({ '/': '<div>'.repeat(1_500) }));
    const { report } = await exportArchive(site.origin, {}, on);
    expect(report.unread).toEqual([
      { url: 'https://docs.example.com/', reason: expect.stringContaining('no twin in Markdown') },
    ]);
    expect(report.markdown).toEqual({ fetched: 0, made: 0 });
  });
});
