import { readMarks, referencesOf, resourcesOf, rewritten } from './engine.ts';

/** A construct of a page at `/guides/start`, marked with its rewritten form, and the references found in it. */
const ROWS: [what: string, html: string, found: string[]][] = [
  ['a link to a page', '<a href="«/about→../about.html»">', ['page /about']],
  ['a link to a folder', '<a href="«/ref/→../ref/index.html»">', ['page /ref/']],
  ['a link to the start page', '<a href="«/→../index.html»">', ['page /']],
  ['a link beside the page', '<a href="«more→more.html»">', ['page /guides/more']],
  ['a link with a fragment', '<a href="«./more→more.html»#deep">', ['page /guides/more']],
  ['a link to a part of the page itself', '<a href="«/guides/start→»#b">', ['page /guides/start']],
  ['a fragment alone', '<a href="#b">', []],
  ['an empty link', '<a href="">', []],
  ['mail, data and script addresses', '<a href="mailto:a@b.c"><a href="javascript:x()"><img src="data:,x">', []],
  ['a link to another site', '<a href="https://other.org/x?a=1&amp;b">', ['page https://other.org/x?a=1&b']],
  ['a link without a scheme', '<a href="«//other.org/x→https://other.org/x»">', ['page https://other.org/x']],
  ['a link naming the origin', '<a href="«http://127.0.0.1:8080/x→../x.html»">', ['page /x']],
  ['a link naming the domain over http', '<a href="«http://docs.example.com/x→../x.html»">', ['page /x']],
  ['a link with a query', '<a href="«/s?q=1→../s.b4811faa8152.html»">', ['page /s?q=1']],
  ['an image map', '<area href="«/x→../x.html»">', ['page /x']],
  ['a space before the fragment', '<a href="«/x →../x%20.html»#b">', ['page /x%20']],
  ['NUL in a value', '<a href="«/x\0y→../x%25EF%25BF%25BDy.html»">', ['page /x%EF%BF%BDy']],
  ['a title of SVG', '<svg><title/></svg><a href="«/x→../x.html»">', ['page /x']],
  [
    'HTML in SVG',
    '<svg><foreignObject><style>a{b:url(«/i.png→../i.png»)}</style><title><a href="/y"></title></foreignObject></svg><a href="«/x→../x.html»">',
    ['asset /i.png', 'page /x'],
  ],
  ['HTML that ends SVG', '<svg><g><p><title><a href="/y"></title><a href="«/x→../x.html»">', ['page /x']],
  [
    'a style of SVG',
    '<svg><style>a{b:url(«/i&#46;png→../i.png»)}<a xlink:href="«/x→../x.html»"/></style></svg>',
    ['asset /i.png', 'page /x'],
  ],
  ['CDATA', '<svg><![CDATA[<a href="/y">]]></svg><![CDATA[><a href="«/x→../x.html»">', ['page /x']],
  [
    'a script in a comment of a script',
    '<script><!--<script></script><a href="/y">--></script><a href="«/x→../x.html»">',
    ['page /x'],
  ],
  ['what ends a noscript', '<noscript><iframe></noscript><a href="«/x→../x.html»">', ['page /x']],
  ['unquoted values', '<a href=«/x→../x.html»><img src=«/i.png→../i.png»>', ['page /x', 'asset /i.png']],
  ['single quotes', "<a href='«/x→../x.html»'>", ['page /x']],
  ['upper case', '<A HREF="«/x→../x.html»"><IMG SRC="«/i.png→../i.png»">', ['page /x', 'asset /i.png']],
  ['space around a value', '<a href=" «/x→../x.html» ">', ['page /x']],
  ['a value over two lines', '<a\nhref\n=\n"«/x→../x.html»">', ['page /x']],
  ['an attribute twice', '<a href="«/x→../x.html»" href="/y">', ['page /x']],
  [
    'an entity beyond U+FFFF',
    '<a href="«/&Tfr;&aopf;a→../%F0%9D%94%97%F0%9D%95%92a.html»">',
    ['page /%F0%9D%94%97%F0%9D%95%92a'],
  ],
  ['entities', '<a href="«&#47;x&amp;y→../x%26y.html»">', ['page /x&y']],
  [
    'non-ASCII letters',
    '<meta charset="utf-8"><a href="«/über uns→../%C3%BCber%20uns.html»">',
    ['page /%C3%BCber%20uns'],
  ],
  ['an image', '<img src="«/i.png→../i.png»">', ['asset /i.png']],
  [
    'image candidates',
    '<img srcset="«/a.png→../a.png» 1x, «/b→../b»,c.png 2x,«/d.png→../d.png»">',
    ['asset /a.png', 'asset /b,c.png', 'asset /d.png'],
  ],
  [
    'a picture',
    '<picture><source srcset="«/a.avif→../a.avif»" type="image/avif"><img src="«/a.png→../a.png»"></picture>',
    ['asset /a.avif', 'asset /a.png'],
  ],
  [
    'video, audio and tracks',
    '<video src="«/v.mp4→../v.mp4»" poster="«/p.png→../p.png»"><track src="«/t.vtt→../t.vtt»"></video><audio><source src="«/a.mp3→../a.mp3»"></audio>',
    ['asset /v.mp4', 'asset /p.png', 'asset /t.vtt', 'asset /a.mp3'],
  ],
  [
    'object, embed and frames',
    '<object data="«/o.svg→../o.svg»"></object><embed src="«/e.pdf→../e.pdf»"><iframe src="«/f→../f.html»"></iframe>',
    ['asset /o.svg', 'asset /e.pdf', 'page /f'],
  ],
  [
    'a frame’s own document',
    `<iframe srcdoc="<img src='«/a.png→../a.png»'><p style=&quot;a:url(«/b.png→../b.png»)&quot;><a href=«/x→../x.html»>&amp;amp;<a href=#t>"></iframe>`,
    ['asset /a.png', 'asset /b.png', 'page /x'],
  ],
  [
    'a frame’s own document with a script',
    `<iframe srcdoc='<script src="«/a&amp;amp;b.js→../a%26b.js»"« integrity=x→»></script>'></iframe>`,
    ['asset /a&b.js'],
  ],
  ['a frame of another site', '<iframe src="https://v.org/e"></iframe>', ['page https://v.org/e']],
  ['an image button', '<input type=image src="«/i.png→../i.png»">', ['asset /i.png']],
  ['a search form', '<form action="«/s→../s.html»">', ['page /s']],
  ['old backgrounds', '<body background="«/b.png→../b.png»">', ['asset /b.png']],
  [
    'lazy images',
    '<img data-src="«/l→../l»" data-srcset="«/m.png→../m.png» 2x"><div data-background="«/b.jpg→../b.jpg»" data-image="none">',
    ['asset /l', 'asset /m.png', 'asset /b.jpg'],
  ],
  [
    'a style attribute with entities',
    '<p style="background: url(&quot;«/b.png→../b.png»&quot;) no-repeat; color: red">',
    ['asset /b.png'],
  ],
  [
    'a style element',
    '<style>@import "«/a.css→../a.css»"; p { background: url(«/b.png→../b.png») }</style>',
    ['asset /a.css', 'asset /b.png'],
  ],
  [
    'SVG in HTML',
    '<svg><use href="«/s.svg→../s.svg»#i"/><image xlink:href="«/i.png→../i.png»"/><a xlink:href="«/x→../x.html»"/></svg>',
    ['asset /s.svg', 'asset /i.png', 'page /x'],
  ],
  [
    'SVG’s paints in HTML',
    '<svg><rect fill="url(«/p.svg→../p.svg»#a)" mask="url(#m)" cursor="url(«/c.png→../c.png»), auto"/></svg>',
    ['asset /p.svg', 'asset /c.png'],
  ],
  ['the old name of an image', '<image src="«/i.png→../i.png»">', ['asset /i.png']],
  ['a counted click', '<a href="«/x→../x.html»"« attributionsrc="https://c.org/"→»>', ['page /x']],
  ['scripts that another script starts', '<script type="text/plain" src="«/a.js→../a.js»"></script>', ['asset /a.js']],
  [
    'speculation rules',
    '<script type="speculationrules">{"prefetch":[{"urls":["«/x→../x.html»","«y→y.html»"],"eagerness":"/z"}]}</script>',
    ['page /x', 'page /guides/y'],
  ],
  [
    'a charset told for a file',
    '<script src="«/a.js→../a.js»" charset="«latin1→utf-8»"></script><link rel=stylesheet href=«/a.css→../a.css» charset=«latin1→utf-8»>',
    ['asset /a.js', 'asset /a.css'],
  ],
  [
    'a preloaded image set',
    '<link rel=preload as=image imagesrcset="«/a.png→../a.png» 1x, «/b.png→../b.png» 2x" href="«/a.png→../a.png»">',
    ['asset /a.png', 'asset /b.png', 'asset /a.png'],
  ],
  [
    'a refresh',
    `<meta http-equiv="refresh" content="0; url='«/next→../next.html»'"><meta http-equiv=refresh content=5>`,
    ['page /next'],
  ],
  [
    'scripts',
    '<script src="«/a.js→../a.js»"></script><script type="text/template"><img src="/t.png"></script>',
    ['asset /a.js'],
  ],
  [
    'a module script',
    '<script type="module">import "«/a.js→../a.js»"; import("./b.js"); import vue from "vue"</script>',
    ['asset /a.js', 'asset /guides/b.js'],
  ],
  ['a word for no configuration', '<meta name="msapplication-config" content="none">', []],
  ['structured data', '<script type="application/ld+json">{"url": "/x", "image": "/y.png"}</script>', []],
  [
    'noscript and template',
    '<noscript><img src="«/n.png→../n.png»"></noscript><template><img src="«/t.png→../t.png»"></template>',
    ['asset /n.png', 'asset /t.png'],
  ],
  [
    'a comment, conditional too',
    '<!-- <a href="/x"> --><!--[if IE]><link href="/ie.css" rel=stylesheet><![endif]-->',
    [],
  ],
  ['text that isn’t markup', '<textarea><a href="/x"></textarea><title><a href="/y"></title> a < b & c', []],
  [
    'pages loaded ahead of need',
    '<link rel=prefetch href="«/x→../x.html»">«<link rel=prefetch href="https://o.org/x"><link rel=prerender href="//o.org/y">→»',
    ['page /x', 'page https://o.org/x', 'page https://o.org/y'],
  ],
  ['a ping', '<a href="«/x" ping="/count→../x.html»">', ['page /x']],
  ['a download', '<a href="«/f.zip→../f.zip»" download>', ['page /f.zip']],
  ['a link element without a purpose', '<link rev="made" href="a@b.c">', []],
  ['quotations', '<q cite="«/x→../x»">', ['endpoint /x']],
  ['a posting form', '<form method="POST" action="«/send→../send»">', ['endpoint /send']],
  ['a tag cut off by the end', '<a href="«/x→../x.html»"><img src="/y', ['page /x']],
];

test('a page of a comment that never ends stays as it is', () => {
  expect(rewritten({ text: ' <!-- é <a href="/x">' })).toBe(' <!-- é <a href="/x">');
});

describe('the references of HTML', () => {
  it.each(ROWS)('are found and rewritten in %s', (_, html, found) => {
    const { before, after } = readMarks(html);
    expect(referencesOf({ text: before })).toEqual(found);
    expect(rewritten({ text: before })).toBe(after);
  });

  it.each([
    ['stylesheet', 'asset'],
    ['preload stylesheet', 'asset'],
    ['shortcut icon', 'asset'],
    ['apple-touch-icon', 'asset'],
    ['manifest', 'asset'],
    ['preload', 'asset'],
    ['modulepreload', 'asset'],
    ['next', 'page'],
    ['alternate', 'page'],
    ['canonical', 'identity'],
    ['pingback', 'endpoint'],
  ])('are for a link of rel %s of kind %s', (rel, kind) => {
    expect(referencesOf({ text: `<link rel="${rel}" href="/x.y">` })).toEqual([`${kind} /x.y`]);
  });

  it('stay absolute and without a suffix if they name the public URL', () => {
    const { before, after } = readMarks(
      '<link rel="canonical" href="https://docs.example.com/guides/start">' +
        '<link rel=canonical href="«/→https://docs.example.com/»guides/start">' +
        '<meta property="og:url" content="«http://127.0.0.1:8080/→https://docs.example.com/»guides/start">' +
        '<link rel="alternate" hreflang="de" href="«/→https://docs.example.com/»de/start">' +
        '<meta property="og:image" content="«/→https://docs.example.com/»card.png">',
    );
    expect(rewritten({ text: before })).toBe(after);
  });

  it('are resolved against <base>, which becomes relative', () => {
    const text = '<base href="/ref/" target="_blank"><a href="x"><a href="#part"><img src="i.png">';
    expect(referencesOf({ text })).toEqual(['page /ref/x', 'page /ref/', 'asset /ref/i.png']);
    expect(rewritten({ text })).toBe(
      '<base href="../ref/" target="_blank"><a href="x.html"><a href="index.html#part"><img src="i.png">',
    );
  });

  it('are relative to the page before a <base>, and if the <base> is of another host', () => {
    expect(rewritten({ text: '<img src="/a.png"><base href="/"><img src="a.png"><base href="/b/">' })).toBe(
      '<img src="../a.png"><base href="../"><img src="a.png"><base>',
    );
    expect(rewritten({ text: '<base href="https://c.org/d/"><img src="a.png"><a href="b">' })).toBe(
      '<base><img src="../_external/c.org/d/a.png"><a href="https://c.org/d/b">',
    );
  });

  it('contain the whole path for a fragment of the same page if a <base> leads elsewhere', () => {
    expect(rewritten({ text: '<base href="/"><a href="guides/start#b"><svg><use href="#s"/></svg>' })).toBe(
      '<base href="../"><a href="guides/start.html#b"><svg><use href="#s"/></svg>',
    );
    expect(rewritten({ text: '<base href="/guides/"><a href="more">' })).toBe('<base href="./"><a href="more.html">');
  });

  it('have the root as their base in the not-found page', () => {
    const text = '<html><head><base href="/ref/"></head><a href="x">';
    expect(rewritten({ text, ownPath: '404.html' })).toMatch(/<base><\/head><a href="ref\/x.html">/);
  });

  it('are ignored in deeply nested documents', () => {
    const nest = (inner: string) =>
      `<iframe srcdoc="${inner.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`;
    const image = '<img src="/i.png">';
    expect(referencesOf({ text: nest(nest(nest(image))) })).toEqual(['asset /i.png']);
    expect(rewritten({ text: nest(nest(nest(image))) })).toBe(nest(nest(nest('<img src="../i.png">'))));
    expect(referencesOf({ text: nest(nest(nest(nest(image)))) })).toEqual([]);
  });

  it('are guessed from inline scripts, which stay unchanged', () => {
    const text = '<script>load("/data/search.json"); go("/guides/more"); x = "a.js"; y = "assets\\/z.css"</script>';
    expect(resourcesOf({ text })).toEqual(['probe /data/search.json', 'probe /assets/z.css']);
    expect(rewritten({ text })).toBe(text);
  });

  it('stay as written if that leads to the same file', () => {
    const text =
      '<meta charset=utf-8><a href="./more.html"><a href="../guides/more.html#x"><img src="caf\u00e9.png"><a href="b%c3%bc.html">';
    expect(rewritten({ text })).toBe(text);
  });
});
