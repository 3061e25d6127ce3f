import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bundleManifest } from '../../contract/bundle.ts';
import { pickPages } from '../../proof/pick-pages.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();

const GUIDE = '<html><body class="guide"><main><p>Text</p></main></body></html>';
const API = '<html><body class="api"><table><tr><td>Text</td></tr></table></body></html>';

async function manifestOf(pages: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(pages)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const files = Object.keys(pages).map((path) => ({ path, size: 1, sha256: '0'.repeat(64), contentType: 'text/html' }));
  return bundleManifest.parse({
    ...{ formatVersion: 1, jobId: 'se_1', domain: 'docs.example.com', version: '1', pageCount: 3 },
    ...{ createdAt: '2026-01-01T00:00:00Z', contentSha256: '0'.repeat(64), redirects: [] },
    files: files.map((file) => (file.path === 'index.html' ? { ...file, url: '/' } : file)),
  });
}

it('picks the start page, and as many pages of each template as of the others', async () => {
  const guides = Array.from({ length: 30 }, (_, number) => [`guide/${number}.html`, GUIDE]);
  const pages = { 'index.html': API, ...Object.fromEntries(guides), 'guide/x.html': API, '404.html': GUIDE };
  const manifest = await manifestOf(pages);
  const { picked, templateCount, pageCount } = await pickPages(folder, manifest, 5);
  expect({ templateCount, pageCount }).toEqual({ templateCount: 3, pageCount: 32 });
  const counts = [0, 1, 2].map((template) => picked.filter((page) => page.template === template).length);
  expect(counts).toEqual([3, 1, 1]);
  expect(picked.map(({ target }) => target)).toEqual(expect.arrayContaining(['/', '/guide/x.html']));
  expect((await pickPages(folder, manifest, 5)).picked).toEqual(picked);
});

it('picks the start page first if there is only one, and all pages if there are enough', async () => {
  const manifest = await manifestOf({ 'a.html': GUIDE, 'b.html': GUIDE, 'index.html': API });
  expect((await pickPages(folder, manifest, 1)).picked.map(({ target }) => target)).toEqual(['/']);
  const all = await pickPages(folder, manifest, Number.POSITIVE_INFINITY);
  expect(all.picked.map(({ target }) => target).sort()).toEqual(['/', '/a.html', '/b.html']);
});
