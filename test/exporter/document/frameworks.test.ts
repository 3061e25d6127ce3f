import { extractFrom, resourcesOf, rewritten } from './engine.ts';

const VITEPRESS = `<!doctype html><html><head><meta name="generator" content="VitePress v1.6.4">
<script type="module" src="/docs/assets/app.BZd9NPdS.js"></script>
<link rel="modulepreload" href="/docs/assets/guides_start.md.BfQbaz_8.lean.js">
</head><body><div id="app"></div><script>window.__VP_HASH_MAP__=JSON.parse("{\\"guides_start.md\\":\\"BfQbaz_8\\",\\"über.md\\":\\"x_-1\\"}");
window.__VP_SITE_DATA__=JSON.parse("{\\"title\\":\\"cleanUrls\\",\\"cleanUrls\\":true}");</script></body></html>`;

describe('the frameworks', () => {
  it.each([
    ['vitepress', VITEPRESS],
    [
      'next',
      '<script id="__NEXT_DATA__" type="application/json">{}</script><script src="/_next/static/a.js"></script>',
    ],
    ['next', '<script>self.__next_f.push([0])</script>'],
    ['nuxt', '<div id="__nuxt"></div><script type=module src="/_nuxt/a.js"></script>'],
    ['docusaurus', '<meta name="generator" content="Docusaurus v3"><script src="/assets/js/main.js" defer></script>'],
    ['gatsby', '<div id="___gatsby"></div><script src="/webpack-runtime-1.js" async></script>'],
    ['astro', '<meta name="generator" content="Astro v5"><script type=module src="/_astro/a.js"></script>'],
    [null, '<p>A page about VitePress, __nuxt and astro.</p><script src="a.js"></script>'],
    [null, '<meta name="generator" content="VitePress v1.6.4"><p>without any script'],
  ])('are detected by their markup: %s', (name, text) => {
    expect(extractFrom({ text }).framework).toBe(name);
  });
});

describe('a VitePress page', () => {
  it('needs its full chunk next to the lean one, and the hash map', () => {
    expect(resourcesOf({ text: VITEPRESS, url: '/docs/guides/start' })).toEqual(
      expect.arrayContaining(['asset /docs/assets/guides_start.md.BfQbaz_8.js', 'probe /docs/hashmap.json']),
    );
    expect(resourcesOf({ text: VITEPRESS, url: '/docs/guides/start' })).not.toContain(
      'probe /docs/assets/%C3%BCber.md.x_-1.js',
    );
  });

  it('names every page’s chunks if it is the start page', () => {
    expect(resourcesOf({ text: VITEPRESS, url: '/docs/' }, 'probe')).toEqual([
      'probe /docs/hashmap.json',
      'probe /docs/assets/guides_start.md.BfQbaz_8.js',
      'probe /docs/assets/guides_start.md.BfQbaz_8.lean.js',
      'probe /docs/assets/%C3%BCber.md.x_-1.js',
      'probe /docs/assets/%C3%BCber.md.x_-1.lean.js',
    ]);
  });

  it('gets a router that writes `.html`, so that any static host can serve its links', () => {
    expect(rewritten({ text: VITEPRESS })).toContain('\\"title\\":\\"cleanUrls\\",\\"cleanUrls\\":false}');
    expect(rewritten({ text: VITEPRESS, policy: { scripts: 'strip' } })).not.toContain('cleanUrls');
  });

  it('names its chunks in the metadata chunk if there is one', () => {
    const text = VITEPRESS.slice(VITEPRESS.indexOf('window.'), VITEPRESS.indexOf('</script></body>'));
    const sample = { text, type: 'text/javascript', url: '/assets/chunks/metadata.3fad7d6f.js' };
    expect(resourcesOf(sample)).toContain('probe /assets/guides_start.md.BfQbaz_8.lean.js');
    expect(rewritten(sample)).toContain('\\"cleanUrls\\":false');
  });
});

describe('other frameworks', () => {
  it('name chunks in the tables of their webpack runtime', () => {
    const text =
      'r.u=e=>"assets/js/"+({12:"main",48:"a94703ab"}[e]||e)+"."+{12:"0011",48:"2233",77:"4455"}[e]+".js",r.miniCssF=e=>"assets/css/"+{12:"6677"}[e]+".css"';
    const sample = { text, type: 'text/javascript', url: '/docs/assets/js/runtime~main.8899.js' };
    expect(resourcesOf(sample, 'probe')).toEqual([
      'probe /docs/assets/js/main.0011.js',
      'probe /docs/assets/js/a94703ab.2233.js',
      'probe /docs/assets/js/77.4455.js',
      'probe /docs/assets/css/6677.css',
    ]);
  });

  it('name chunks in Next’s build manifest, and its page data', () => {
    const text = 'self.__BUILD_MANIFEST={"/":["static/chunks/pages/index-1.js","static/css/2.css"]}';
    expect(resourcesOf({ text, type: 'text/javascript', url: '/_next/static/B1/_buildManifest.js' })).toEqual(
      expect.arrayContaining(['probe /_next/static/chunks/pages/index-1.js', 'probe /_next/static/css/2.css']),
    );
    const html =
      '<script src="/_next/static/chunks/main.js" defer></script><script id="__NEXT_DATA__" type="application/json">{"buildId":"B1"}</script>';
    expect(resourcesOf({ text: html })).toContain('probe /_next/data/B1/guides/start.json');
  });

  it('keep data next to their pages', () => {
    const gatsby = '<div id="___gatsby"></div><script src="/webpack-runtime-1a.js" async></script>';
    expect(resourcesOf({ text: gatsby, url: '/guides/' })).toContain('probe /page-data/guides/page-data.json');
    const nuxt = '<div id="__nuxt"></div><script type="module" src="/_nuxt/a.js"></script>';
    expect(resourcesOf({ text: nuxt })).toContain('probe /guides/start/_payload.json');
  });

  it('start Astro’s islands by URLs that stay module specifiers', () => {
    const text =
      '<astro-island component-url="/_astro/C.js" renderer-url="/guides/r.js"></astro-island><script>1</script>';
    expect(rewritten({ text })).toContain('component-url="../_astro/C.js" renderer-url="./r.js"');
  });
});
