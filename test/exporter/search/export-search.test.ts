import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { BundleManifest } from '../../../contract/bundle.ts';
import { exportArchive } from '../../helpers/export-archive.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const folder = temporaryFolder();
const search = { settings: { search: 'pagefind' } } as const;
const SHORTCUT = /<script src="([^"]*_pagefind\/shortcut\.js)" defer="defer"><\/script>/;
const NOTHING = { index: null, languages: [], reason: null };

const page = (lang: string, title: string, text: string) =>
  `<!DOCTYPE html><html lang="${lang}"><head><title>${title} | Handbook</title><link rel="canonical" href="/"></head>` +
  `<body><header>Handbook</header><main><h1>${title}</h1><p>${text}</p></main><footer>Imprint</footer></body></html>`;
const PAGES = {
  '/': `${page('en', 'Start', 'Welcome')}<a href="/guide/install"></a><a href="/de/"></a>`,
  '/guide/install': page('en', 'Install', 'Unpack the archive'),
  '/de/': `${page('de', 'Anfang', 'Willkommen')}<a href="/de/aufbau"></a>`,
  '/de/aufbau': page('de', 'Aufbau', 'Das Archiv auspacken'),
};

let site: HttpSite;
beforeEach(async () => {
  site = await startHttpSite(serveFiles(PAGES));
});
afterEach(() => site.close());

const pathsOf = ({ files }: BundleManifest) => files.map(({ path }) => path);

describe('an export with search', () => {
  it('has an index, a search page in the layout of each language, and a script on each page that opens it', async () => {
    const { files, manifest, report } = await exportArchive(site.origin, {}, search);
    expect(report.search).toEqual({
      ...{ ...NOTHING, state: 'made', index: '_pagefind/' },
      languages: [
        { language: 'de', pageCount: 2, page: 'de/_search.html' },
        { language: 'en', pageCount: 2, page: '_search.html' },
      ],
    });
    expect(SHORTCUT.exec(files.get('index.html') ?? '')?.[1]).toBe('_pagefind/shortcut.js');
    expect(SHORTCUT.exec(files.get('guide/install.html') ?? '')?.[1]).toBe('../_pagefind/shortcut.js');
    expect(files.get('_pagefind/shortcut.js')).toContain(
      '({"de":"de/_search.html","en":"_search.html","":"_search.html"})',
    );
    const german = files.get('de/_search.html') ?? '';
    expect(german).toContain('<html lang="de">');
    expect(german).toContain('<title>Suche</title>');
    expect(german).toMatch(/<header>Handbook<\/header><main><div class="galley-search"/);
    expect(german).toContain('<footer>Imprint</footer>');
    expect(german).not.toMatch(/Willkommen|canonical/);
    expect(german).toContain('<script type="module" src="../_pagefind/search.js"></script>');
    expect(pathsOf(manifest).filter((path) => /^_pagefind\/pagefind\..*\.pf_meta$/.test(path))).toHaveLength(2);
    expect(pathsOf(manifest)).toEqual(pathsOf(manifest).toSorted());
    expect(manifest.pageCount).toBe(4);
    const types = new Map(manifest.files.map(({ path, contentType }) => [path, contentType]));
    expect(types.get('_search.html')).toBe('text/html; charset=utf-8');
    expect(types.get('_pagefind/pagefind.js')).toBe('text/javascript; charset=utf-8');
    expect(types.get('_pagefind/wasm.en.pagefind')).toBe('application/octet-stream');
  });

  it('has the same content each time, also with other batches', async () => {
    const one = await exportArchive(site.origin, {}, search);
    const other = await exportArchive(site.origin, { batchFiles: 1, pieceBytes: 100 }, search);
    expect(other.manifest.contentSha256).toBe(one.manifest.contentSha256);
  });

  it('changes nothing if it isn’t wanted', async () => {
    const { files, report } = await exportArchive(site.origin);
    expect([...files.keys()].filter((path) => /pagefind|_search/.test(path))).toEqual([]);
    expect(files.get('index.html')).not.toContain('shortcut.js');
    expect(report.search).toBeUndefined();
  });

  it('keeps the offline search of the site', async () => {
    const own = '<script src="/_static/searchtools.js"></script><script src="/searchindex.js"></script>';
    const script = { body: '1', contentType: 'text/javascript' };
    const files = { '/': own + PAGES['/'], '/searchindex.js': script, '/_static/searchtools.js': script };
    site.setHandler(serveFiles({ ...PAGES, ...files }));
    const exported = await exportArchive(site.origin, {}, search);
    expect(exported.report.search).toEqual({
      ...{ ...NOTHING, state: 'own', index: 'searchindex.js' },
      reason: 'the site has an offline search of its own (Sphinx)',
    });
    expect(exported.files.get('index.html')).not.toContain('shortcut.js');
    expect(exported.files.has('_search.html')).toBe(false);
  });

  it('leaves a file of the site at the search’s place alone, and says so', async () => {
    site.setHandler(serveFiles({ ...PAGES, '/': `<a href="/_search.html"></a>`, '/_search.html': 'theirs' }));
    const { files, report } = await exportArchive(site.origin, {}, search);
    expect(report.search).toEqual({
      ...{ ...NOTHING, state: 'failed' },
      reason: 'the site has a file of its own at _search.html',
    });
    expect(files.get('_search.html')).toContain('theirs');
    expect(files.get('index.html')).not.toContain('shortcut.js');
  });
});

describe('an index that can’t be made', () => {
  const program = new URL('./odd-indexer.ts', import.meta.url);

  async function exportWith(
    text: string,
  ): Promise<{ reason: string | null | undefined; shortcut: string | undefined }> {
    site.setHandler(serveFiles({ '/': `<title>${text}</title>` }));
    const indexer = { program, finishMs: 2_000 };
    const { report, files } = await exportArchive(site.origin, {}, { ...search, indexer });
    expect(report.search).toMatchObject({ state: 'failed', index: null, languages: [] });
    expect(files.get('index.html')).toMatch(SHORTCUT);
    return { reason: report.search?.reason, shortcut: files.get('_pagefind/shortcut.js') };
  }

  it('is in the report, and the script of the pages has no effect', async () => {
    const { reason, shortcut } = await exportWith('crash');
    expect(reason).toBe('its process ended (SIGSEGV)');
    expect(shortcut).toMatch(/\}\)\(\{\}\);\s*$/);
  });

  it('is given up after a time', async () => {
    expect((await exportWith('hang')).reason).toBe('no result within 2 s');
  });

  it('was made without secrets', async () => {
    process.env.ADMIN_API_KEY = 'galley_secret';
    const { reason } = await exportWith('environment');
    delete process.env.ADMIN_API_KEY;
    expect(reason).toContain('"PATH"');
    expect(reason).not.toMatch(/ADMIN|KEY|TOKEN|SECRET/);
  });

  it('was made without files that this process has open', async () => {
    const open = openSync(join(folder, 'secret'), 'w');
    const { reason } = await exportWith('descriptors');
    closeSync(open);
    expect(reason).not.toContain('secret');
  });
});
