import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { searchOf } from '../../../exporter/search/plan-search.ts';
import { preparePage } from '../../../exporter/search/prepare-page.ts';
import { createSearchPage } from '../../../exporter/search/search-page.ts';
import { asset } from '../../../exporter/search/shortcut.ts';
import { createStartPages } from '../../../exporter/search/start-pages.ts';
import { bucketOf, titleKey } from '../../../exporter/search/title-files.ts';
import fc from '../../helpers/fast-check.ts';

describe('searchOf: an offline search of the site', () => {
  it.each([
    ['Sphinx', ['searchindex.js', '_static/searchtools.js']],
    ['MkDocs', ['docs/search/search_index.json']],
    ['VitePress', ['assets/chunks/@localSearchIndexroot.Bx1.js']],
    ['Docusaurus', ['search-index.json']],
    ['Docusaurus', ['de/search-index-default-current.json']],
    ['mdBook', ['searchindex-0a1b.js', 'searcher-2c3d.js']],
    ['Pagefind', ['pagefind/pagefind-entry.json']],
    ['Pagefind', ['_pagefind/pagefind-entry.json', '_pagefind/pagefind.js']],
    ['HonKit', ['search_plus_index.json']],
    ['Just the Docs', ['assets/js/search-data.json']],
    ['Antora', ['search-index.js', '_/js/search-ui.js']],
  ])('%s has an index of texts: %j', (name, paths) => {
    expect(searchOf(['index.html', ...paths])).toEqual({ kind: 'own', name, index: paths[0] });
  });

  it.each([
    ['an index that no program reads', ['searchindex.js']],
    ['Javadoc: only names', ['member-search-index.js', 'type-search-index.js', 'search.js']],
    ['Doxygen: only names', ['search/searchdata.js', 'search/all_0.js']],
    ['rustdoc: only names', ['search-index1.70.0.js', 'search-index.js', 'search1.70.0.js']],
    ['a page about search', ['search.html', 'guide/search-index.html']],
  ])('does not count: %s', (_, paths) => {
    expect(searchOf(paths)).toEqual({ kind: 'pagefind' });
  });

  it.each(['_pagefind', '_pagefind/x.js', '_search.html', 'de/_search.html'])('has no room beside %s', (path) => {
    expect(searchOf([path])).toEqual({ kind: 'taken', path });
  });
});

describe('preparePage', () => {
  const TITLE = '<p data-pagefind-meta="title" data-pagefind-weight="10">';

  it('indexes the main part, under the title', () => {
    const html =
      '<html lang="pt-BR"><title>A &amp; B\n</title><body><nav>n</nav><main class=m><h1>C</h1></main></body>';
    expect(preparePage(html)).toEqual({
      ...{ language: 'pt-br', title: 'A & B', heading: 'C', isRedirect: false },
      html: html.replace('<main class=m>', `<main data-pagefind-body class=m>${TITLE}A &amp; B</p>`),
    });
  });

  it('indexes the body of a page without one, whatever its SVG is titled', () => {
    const html = '<body id=b><svg><title>x</title></svg><h1>Head</h1>';
    const { title, html: prepared } = preparePage(html);
    expect(title).toBe('Head');
    expect(prepared).toBe(`<body data-pagefind-body id=b>${TITLE}Head</p><svg><title>x</title></svg><h1>Head</h1>`);
  });

  it('indexes a page without any tag of its own, and a page that says itself what to index', () => {
    expect(preparePage('text').html).toBe('<html><body data-pagefind-body>text');
    expect(preparePage('<main><p data-pagefind-body>text').html).toBe('<main><p data-pagefind-body>text');
  });

  it('notices a page that only leads on', () => {
    expect(preparePage('<meta http-equiv="Refresh" content="0; url=x">').isRedirect).toBe(true);
  });
});

describe('createSearchPage', () => {
  const config = { language: 'en', commonWords: ['the'], bucketCount: 1 };
  const create = (html: string, path = 'index.html') => createSearchPage({ path, html }, config);

  it.each([
    ['<body><div role=main class=m>x</div>', '<div role="main" class="m"><div class="galley-search"'],
    ['<body><div id=content>x</div>', '<div id="content"><main class="galley-search"'],
    ['<body><nav>n</nav><p>x</p><footer>f</footer>', '<nav>n</nav><main class="galley-search"'],
  ])('replaces the main part: %s', (html, expected) => {
    const page = create(html);
    expect(page).toContain(expected);
    expect(page).not.toContain('>x<');
  });

  it('drops what says that it is the start page, and what would render that again', () => {
    const page = create(
      '<head><title>t</title><link rel=canonical href=/><meta property=og:url content=/><meta name=description content=d>' +
        '<link rel=stylesheet href=s.css></head><body><script type="galley/held" src=app.js></script>' +
        '<script>each(\'script[type="galley/held"]\')</script><script src=menu.js></script><script type="application/ld+json">{}</script>',
    );
    expect(page).not.toMatch(/canonical|og:|description|app\.js|galley\/held|ld\+json/);
    expect(page).toMatch(/<link rel="stylesheet" href="s\.css">.*menu\.js/s);
    expect(page).toContain('<meta name="robots" content="noindex">');
  });

  it('leads to the root, and says its charset', () => {
    const page = create('<body>', 'de/docs/index.html');
    expect(page).toContain('href="../../_pagefind/search.css"');
    expect(page).toMatch(/<head><meta charset="utf-8">/);
    expect(create('<meta charset=utf-8><body>').match(/charset/g)).toHaveLength(1);
  });

  it('allows WebAssembly and its own files in a policy of the page', () => {
    const policy = "default-src 'none'; connect-src 'none'; img-src 'none'";
    expect(create(`<meta http-equiv=Content-Security-Policy content="${policy}"><body>`)).toContain(
      `content="default-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'none'"`,
    );
  });
});

describe('createStartPages', () => {
  it('takes the highest page of a language, an index first', () => {
    const pages = createStartPages();
    for (const path of ['de/a/index.html', 'de/z.html', 'de/index.html', 'de/a.html'])
      pages.add('de', { path, html: '' });
    pages.add('', { path: 'index.html', html: '' });
    expect(pages.of('de', { isMain: false })?.path).toBe('de/index.html');
    expect(pages.of('de', { isMain: true })?.path).toBe('index.html');
    expect(pages.of('fr', { isMain: false })).toBeUndefined();
  });
});

describe('the script of a search page', () => {
  const source = readFileSync(asset('search.js'), 'utf8');
  const functions = ['titleKey', 'bucketOf'].map((name) => {
    const [text = ''] = new RegExp(`^function ${name}\\([^]*?^}`, 'm').exec(source) ?? [];
    return text;
  });
  const theirs = runInNewContext(`const bucketCount = 7; ${functions.join('\n')}; ({ titleKey, bucketOf })`, {
    TextEncoder,
  });

  it('has the same keys and files of titles as the index', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(theirs.titleKey(text)).toBe(titleKey(text));
        expect(theirs.bucketOf(text)).toBe(bucketOf(text, 7));
      }),
    );
  });
});
