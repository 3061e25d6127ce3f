import { readMarks, referencesOf, resourcesOf, rewritten } from './engine.ts';

describe('a script’s references', () => {
  const script = (text: string) => ({ text, type: 'text/javascript', url: '/assets/app.js' });

  it('are its static and dynamic imports, and assets relative to it', () => {
    const text = [
      'import a from "./a.js";import "/b.js";import vue from "vue";',
      "export * from '../c.js';import('https://esm.example.org/d.js');",
      'import(`./$' + '{x}.js`);',
      'new URL("./worker.js", import.meta.url)',
    ].join('');
    expect(referencesOf(script(text))).toEqual([
      'asset /assets/a.js',
      'asset /b.js',
      'asset /c.js',
      'asset https://esm.example.org/d.js',
      'asset /assets/worker.js',
    ]);
    expect(rewritten(script(text))).toBe(
      text.replace('"/b.js"', '"../b.js"').replace('https://esm.example.org/d.js', '../_external/esm.example.org/d.js'),
    );
  });

  it('are guessed from its strings, which stay unchanged', () => {
    const text =
      'const deps=["assets/x.css","/data/a.json?v=1","./y.wasm","name.js","/api/users","https://x.org/z.js"]';
    expect(resourcesOf(script(text), 'probe')).toEqual([
      'probe /assets/x.css',
      'probe /data/a.json',
      'probe /assets/y.wasm',
    ]);
    expect(rewritten(script(text))).toBe(text);
  });

  it('are empty if the script is invalid', () => {
    expect(referencesOf(script('import { from "./a.js; }}} `'))).toEqual([]);
  });
});

describe('an SVG’s references', () => {
  const svg = (text: string) => ({ text, type: 'image/svg+xml', url: '/img/a.svg' });

  it('are images, symbols, links and styles', () => {
    const { before, after } = readMarks(
      '<?xml version="1.0"?><?xml-stylesheet href="«/s.css→../s.css»"?><svg><image href="«/i.png→../i.png»"/>' +
        '<use xlink:href="«/b.svg→../b.svg»#x"/><a href="«/about→../about.html»">' +
        '<rect fill="url(#g)" mask="url(«/m.svg→../m.svg»#m)"/></a>' +
        '<style><![CDATA[a{b:url(«/c.png→../c.png»)}]]></style>' +
        '<style>a{b:url(«/d.png?a&amp;b→../d.c0fbaf699d26.png»)}</style></svg>',
    );
    const assets = ['asset /m.svg', 'asset /c.png', 'asset /d.png?a&b'];
    expect(referencesOf(svg(before))).toEqual([
      'asset /s.css',
      'asset /i.png',
      'asset /b.svg',
      'page /about',
      ...assets,
    ]);
    expect(rewritten(svg(before))).toBe(after);
  });
});

describe('a web app manifest’s references', () => {
  it('are its icons, screenshots and start pages', () => {
    const text = JSON.stringify({
      name: '/x.png',
      start_url: '/',
      scope: '/',
      icons: [{ src: '/i.png', sizes: '1x1' }],
      screenshots: [{ src: 'https:\\/\\/docs.example.com/s.png' }],
      shortcuts: [{ name: 'N', url: '/guides/start', icons: [{ src: '/j.png' }] }],
      file_handlers: [{ action: '/open', accept: {} }],
      share_target: { action: '/share', params: { url: 'url' } },
    });
    const sample = { text, type: 'application/manifest+json', url: '/app/site.webmanifest' };
    expect(referencesOf(sample)).toEqual([
      'page /',
      'folder /',
      'asset /i.png',
      'asset /s.png',
      'page /guides/start',
      'asset /j.png',
      'page /open',
      'endpoint /share',
    ]);
    expect(JSON.parse(rewritten(sample))).toMatchObject({
      name: '/x.png',
      start_url: '../index.html',
      scope: '../',
      icons: [{ src: '../i.png' }],
      shortcuts: [{ url: '../guides/start.html', icons: [{ src: '../j.png' }] }],
    });
  });
});

describe('other XML', () => {
  it('refers to its stylesheet and to the tiles of a pinned site', () => {
    const text =
      '<?xml-stylesheet href="/s.xsl"?><browserconfig><msapplication><tile><square70x70logo src="/t.png"/></tile></msapplication></browserconfig>';
    expect(referencesOf({ text, type: 'text/xml', url: '/tiles.xml' })).toEqual(['asset /s.xsl', 'asset /t.png']);
    expect(referencesOf({ text: '<x><link>/x</link><y src="/y"/></x>', type: 'text/xml' })).toEqual([]);
  });
});
