import { gzipSync } from 'node:zlib';
import { encode } from 'cborg';
import { resourcesOf, rewritten } from './engine.ts';

const script = (text: string, url: string) => resourcesOf({ text, type: 'text/javascript', url }, 'probe');

describe('a bundler’s runtime', () => {
  it('names chunks in tables, as Rspack writes them', () => {
    // From a site that Docusaurus built with Rspack, cut to three chunks.
    const text =
      'var d={};d.u=e=>"assets/js/"+(({106:"17896441",121:"963c95ea"})[e]||e)+"."+({106:"bb4729c1",121:"40838f55",314:"5770d628"})[e]+".js",d.miniCssF=e=>""+e+".css"';
    expect(script(text, '/docs/assets/js/runtime~main.34aa6264.js')).toEqual([
      'probe /docs/assets/js/17896441.bb4729c1.js',
      'probe /docs/assets/js/963c95ea.40838f55.js',
      'probe /docs/assets/js/314.5770d628.js',
    ]);
  });

  it('may select names by comparison, as Next’s does', () => {
    const text =
      'a.u=function(e){return 35===e?"static/chunks/35-aa.js":"static/chunks/"+({7:"x"}[e]||e)+"."+{7:"bb",9:"cc"}[e]+".js"}';
    expect(script(text, '/_next/static/chunks/webpack-1.js')).toEqual(
      expect.arrayContaining([
        'probe /_next/static/chunks/35-aa.js',
        'probe /_next/static/chunks/x.bb.js',
        'probe /_next/static/chunks/9.cc.js',
      ]),
    );
  });

  it('may load one chunk by its number in a worker, without a table', () => {
    const text = 'u.x=()=>u.O(void 0,["944"],()=>u(3291)),u.u=e=>"assets/js/"+e+".6f677675.js"';
    expect(script(text, '/assets/js/498.480ffcfe.js')).toEqual(['probe /assets/js/944.6f677675.js']);
  });

  it('is ignored if it is invalid or computes names in another way', () => {
    expect(script('a.u=e=>"x/"+{1:"2"}[e]+".js" ]', '/x/a.js')).toEqual([]);
    expect(script('a.u=e=>"x/"+f({1:"2"}[e])+".js"', '/x/a.js')).toEqual([]);
  });
});

describe('a Docusaurus site', () => {
  it('has a search index whose URL its script composes', () => {
    expect(script('x="search-index{dir}.json?_=7ac7783c"', '/docs/assets/js/498.1.js')).toEqual([
      'probe /docs/search-index.json',
    ]);
  });

  it('shows no load failure banner while its scripts wait', () => {
    const text =
      '<meta name=generator content="Docusaurus v3.10.2"><script>document.addEventListener("DOMContentLoaded",function(){x.id="__docusaurus-base-url-issue-banner"})</script>' +
      '<script>document.addEventListener("DOMContentLoaded",function(){mine()})</script>';
    expect(rewritten({ text })).toContain('addEventListener("galley:never",function(){x.id=');
    expect(rewritten({ text })).toContain('addEventListener("DOMContentLoaded",function(){mine()})');
  });
});

describe('Pagefind', () => {
  it.each([
    ['ui({bundlePath:"/docs".replace(/\\/$/,"")+"/pagefind/"})', '/_astro/a.js', '/docs/pagefind/pagefind.js'],
    ['ui({bundlePath:"/pagefind/"})', '/_astro/a.js', '/pagefind/pagefind.js'],
    ['anything()', '/search/pagefind-ui.js', '/search/pagefind.js'],
  ])('is found by the script that loads it: %s', (text, url, found) => {
    expect(script(text, url)).toContain(`probe ${found}`);
  });

  it('names its languages in its entry', () => {
    const text = JSON.stringify({
      version: '1.4.0',
      languages: { en: { hash: 'en_1', wasm: 'en' }, eo: { hash: 'eo_2', wasm: null } },
    });
    expect(resourcesOf({ text, type: 'application/json', url: '/pagefind/pagefind-entry.json' })).toEqual([
      'probe /pagefind/pagefind.en_1.pf_meta',
      'probe /pagefind/wasm.en.pagefind',
      'probe /pagefind/pagefind.eo_2.pf_meta',
      'probe /pagefind/wasm.unknown.pagefind',
    ]);
  });

  it('names fragments and pieces of its index in its compressed metadata', () => {
    const meta = [
      '1.4.0',
      [
        ['en_31dc57e', 8],
        ['en_7a2ca3d', 5],
      ],
      [['42', 'welcom', 'en_fa8566b']],
      [['tag', 'en_f']],
      [],
    ];
    const text = gzipSync(Buffer.concat([Buffer.from('pagefind_dcd'), encode(meta)]));
    const sample = { text, type: 'application/octet-stream', url: '/pagefind/pagefind.en_1.pf_meta' };
    expect(resourcesOf(sample)).toEqual([
      'probe /pagefind/fragment/en_31dc57e.pf_fragment',
      'probe /pagefind/fragment/en_7a2ca3d.pf_fragment',
      'probe /pagefind/index/en_fa8566b.pf_index',
      'probe /pagefind/filter/en_f.pf_filter',
    ]);
    expect(resourcesOf({ ...sample, text: text.subarray(0, 20) })).toEqual([]);
  });
});
