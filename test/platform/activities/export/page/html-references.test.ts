import { referencesOf, resourcesOf, rewritten } from './engine.ts';

type Row = { what: string; html: string; found: string[]; written: string };

/** One row a construct: what is found in it at `/guides/start`, and how it stands in the bundle. */
const ROWS: Row[] = [
  row('a link to a page', '<a href="/about">', ['page /about'], '<a href="../about.html">'),
  row('a link to a folder', '<a href="/ref/">', ['page /ref/'], '<a href="../ref/index.html">'),
  row('a link to the start page', '<a href="/">', ['page /'], '<a href="../index.html">'),
  row('a link beside the page', '<a href="more">', ['page /guides/more'], '<a href="more.html">'),
  row('a link with a fragment', '<a href="./more#deep">', ['page /guides/more'], '<a href="more.html#deep">'),
  row('a link to a part of the page itself', '<a href="/guides/start#b">', ['page /guides/start'], '<a href="#b">'),
  row('a fragment alone', '<a href="#b">', [], '<a href="#b">'),
  row('an empty link', '<a href="">', [], '<a href="">'),
  row('mail, data and script addresses', '<a href="mailto:a@b.c"><a href="javascript:x()"><img src="data:,x">', []),
  row('a link to another site', '<a href="https://other.org/x?a=1&amp;b">', ['page https://other.org/x?a=1&b']),
  row(
    'a link without a scheme',
    '<a href="//other.org/x">',
    ['page https://other.org/x'],
    '<a href="https://other.org/x">',
  ),
  row('a link naming the origin', '<a href="http://127.0.0.1:8080/x">', ['page /x'], '<a href="../x.html">'),
  row(
    'a link naming the domain over http',
    '<a href="http://docs.example.com/x">',
    ['page /x'],
    '<a href="../x.html">',
  ),
  row('a link with a query', '<a href="/s?q=1">', ['page /s?q=1'], '<a href="../s.b4811faa8152.html">'),
  row('an image map', '<area href="/x">', ['page /x'], '<area href="../x.html">'),
  row(
    'unquoted values',
    '<a href=/x><img src=/i.png>',
    ['page /x', 'asset /i.png'],
    '<a href=../x.html><img src=../i.png>',
  ),
  row('single quotes', "<a href='/x'>", ['page /x'], "<a href='../x.html'>"),
  row(
    'upper case',
    '<A HREF="/x"><IMG SRC="/i.png">',
    ['page /x', 'asset /i.png'],
    '<A HREF="../x.html"><IMG SRC="../i.png">',
  ),
  row('space around a value', '<a href=" /x ">', ['page /x'], '<a href=" ../x.html ">'),
  row('a value over two lines', '<a\nhref\n=\n"/x">', ['page /x'], '<a\nhref\n=\n"../x.html">'),
  row('an attribute twice', '<a href="/x" href="/y">', ['page /x'], '<a href="../x.html" href="/y">'),
  row('entities', '<a href="&#47;x&amp;y">', ['page /x&y'], '<a href="../x%26y.html">'),
  row(
    'non-ASCII letters',
    '<meta charset="utf-8"><a href="/über uns">',
    ['page /%C3%BCber%20uns'],
    '<meta charset="utf-8"><a href="../%C3%BCber%20uns.html">',
  ),
  row('an image', '<img src="/i.png">', ['asset /i.png'], '<img src="../i.png">'),
  row(
    'image candidates',
    '<img srcset="/a.png 1x, /b,c.png 2x,/d.png">',
    ['asset /a.png', 'asset /b,c.png', 'asset /d.png'],
    '<img srcset="../a.png 1x, ../b,c.png 2x,../d.png">',
  ),
  row(
    'a picture',
    '<picture><source srcset="/a.avif" type="image/avif"><img src="/a.png"></picture>',
    ['asset /a.avif', 'asset /a.png'],
    '<picture><source srcset="../a.avif" type="image/avif"><img src="../a.png"></picture>',
  ),
  row(
    'video, audio and tracks',
    '<video src="/v.mp4" poster="/p.png"><track src="/t.vtt"></video><audio><source src="/a.mp3"></audio>',
    ['asset /v.mp4', 'asset /p.png', 'asset /t.vtt', 'asset /a.mp3'],
    '<video src="../v.mp4" poster="../p.png"><track src="../t.vtt"></video><audio><source src="../a.mp3"></audio>',
  ),
  row(
    'object, embed and frames',
    '<object data="/o.svg"></object><embed src="/e.pdf"><iframe src="/f"></iframe>',
    ['asset /o.svg', 'asset /e.pdf', 'page /f'],
    '<object data="../o.svg"></object><embed src="../e.pdf"><iframe src="../f.html"></iframe>',
  ),
  row(
    'a frame’s own document',
    '<iframe srcdoc="<img src=\'/a.png\'><p style=&quot;a:url(/b.png)&quot;><a href=/x>&amp;amp;<a href=#t>"></iframe>',
    ['asset /a.png', 'asset /b.png', 'page /x'],
    '<iframe srcdoc="<img src=\'../a.png\'><p style=&quot;a:url(../b.png)&quot;><a href=../x.html>&amp;amp;<a href=#t>"></iframe>',
  ),
  row(
    'a frame’s own document with a script',
    `<iframe srcdoc='<script src="/a&amp;amp;b.js" integrity=x></script>'></iframe>`,
    ['asset /a&b.js'],
    `<iframe srcdoc='<script src="../a%26b.js"></script>'></iframe>`,
  ),
  row('a frame of another site', '<iframe src="https://v.org/e"></iframe>', ['page https://v.org/e']),
  row('an image button', '<input type=image src="/i.png">', ['asset /i.png'], '<input type=image src="../i.png">'),
  row('a search form', '<form action="/s">', ['page /s'], '<form action="../s.html">'),
  row('old backgrounds', '<body background="/b.png">', ['asset /b.png'], '<body background="../b.png">'),
  row(
    'lazy images',
    '<img data-src="/l" data-srcset="/m.png 2x"><div data-background="/b.jpg" data-image="none">',
    ['asset /l', 'asset /m.png', 'asset /b.jpg'],
    '<img data-src="../l" data-srcset="../m.png 2x"><div data-background="../b.jpg" data-image="none">',
  ),
  row(
    'a style attribute with entities',
    '<p style="background: url(&quot;/b.png&quot;) no-repeat; color: red">',
    ['asset /b.png'],
    '<p style="background: url(&quot;../b.png&quot;) no-repeat; color: red">',
  ),
  row(
    'a style element',
    '<style>@import "/a.css"; p { background: url(/b.png) }</style>',
    ['asset /a.css', 'asset /b.png'],
    '<style>@import "../a.css"; p { background: url(../b.png) }</style>',
  ),
  row(
    'SVG in HTML',
    '<svg><use href="/s.svg#i"/><image xlink:href="/i.png"/><a xlink:href="/x"/></svg>',
    ['asset /s.svg', 'asset /i.png', 'page /x'],
    '<svg><use href="../s.svg#i"/><image xlink:href="../i.png"/><a xlink:href="../x.html"/></svg>',
  ),
  row(
    'SVG’s paints in HTML',
    '<svg><rect fill="url(/p.svg#a)" mask="url(#m)" cursor="url(/c.png), auto"/></svg>',
    ['asset /p.svg', 'asset /c.png'],
    '<svg><rect fill="url(../p.svg#a)" mask="url(#m)" cursor="url(../c.png), auto"/></svg>',
  ),
  row('the old name of an image', '<image src="/i.png">', ['asset /i.png'], '<image src="../i.png">'),
  row('a counted click', '<a href="/x" attributionsrc="https://c.org/">', ['page /x'], '<a href="../x.html">'),
  row(
    'scripts that another script starts',
    '<script type="text/plain" src="/a.js"></script>',
    ['asset /a.js'],
    '<script type="text/plain" src="../a.js"></script>',
  ),
  row(
    'speculation rules',
    '<script type="speculationrules">{"prefetch":[{"urls":["/x","y"],"eagerness":"/z"}]}</script>',
    ['page /x', 'page /guides/y'],
    '<script type="speculationrules">{"prefetch":[{"urls":["../x.html","y.html"],"eagerness":"/z"}]}</script>',
  ),
  row(
    'a charset told for a file',
    '<script src="/a.js" charset="latin1"></script><link rel=stylesheet href=/a.css charset=latin1>',
    ['asset /a.js', 'asset /a.css'],
    '<script src="../a.js" charset="utf-8"></script><link rel=stylesheet href=../a.css charset=utf-8>',
  ),
  row(
    'a preloaded image set',
    '<link rel=preload as=image imagesrcset="/a.png 1x, /b.png 2x" href="/a.png">',
    ['asset /a.png', 'asset /b.png', 'asset /a.png'],
    '<link rel=preload as=image imagesrcset="../a.png 1x, ../b.png 2x" href="../a.png">',
  ),
  row(
    'a refresh',
    `<meta http-equiv="refresh" content="0; url='/next'"><meta http-equiv=refresh content=5>`,
    ['page /next'],
    `<meta http-equiv="refresh" content="0; url='../next.html'"><meta http-equiv=refresh content=5>`,
  ),
  row(
    'scripts',
    '<script src="/a.js"></script><script type="text/template"><img src="/t.png"></script>',
    ['asset /a.js'],
    '<script src="../a.js"></script><script type="text/template"><img src="/t.png"></script>',
  ),
  row(
    'a module script',
    '<script type="module">import "/a.js"; import("./b.js"); import vue from "vue"</script>',
    ['asset /a.js', 'asset /guides/b.js'],
    '<script type="module">import "../a.js"; import("./b.js"); import vue from "vue"</script>',
  ),
  row('a word for no configuration', '<meta name="msapplication-config" content="none">', []),
  row('structured data', '<script type="application/ld+json">{"url": "/x", "image": "/y.png"}</script>', []),
  row(
    'noscript and template',
    '<noscript><img src="/n.png"></noscript><template><img src="/t.png"></template>',
    ['asset /n.png', 'asset /t.png'],
    '<noscript><img src="../n.png"></noscript><template><img src="../t.png"></template>',
  ),
  row(
    'a comment, conditional too',
    '<!-- <a href="/x"> --><!--[if IE]><link href="/ie.css" rel=stylesheet><![endif]-->',
    [],
  ),
  row('text that isn’t markup', '<textarea><a href="/x"></textarea><title><a href="/y"></title> a < b & c', []),
  row(
    'pages loaded ahead of need',
    '<link rel=prefetch href="/x"><link rel=prefetch href="https://o.org/x"><link rel=prerender href="//o.org/y">',
    ['page /x', 'page https://o.org/x', 'page https://o.org/y'],
    '<link rel=prefetch href="../x.html">',
  ),
  row('a ping', '<a href="/x" ping="/count">', ['page /x'], '<a href="../x.html">'),
  row('a download', '<a href="/f.zip" download>', ['page /f.zip'], '<a href="../f.zip" download>'),
  row('a link element without a purpose', '<link rev="made" href="a@b.c">', []),
  row('quotations', '<q cite="/x">', ['endpoint /x'], '<q cite="../x">'),
  row(
    'a posting form',
    '<form method="POST" action="/send">',
    ['endpoint /send'],
    '<form method="POST" action="../send">',
  ),
  row('a tag cut off by the end', '<a href="/x"><img src="/y', ['page /x'], '<a href="../x.html"><img src="/y'),
];

function row(what: string, html: string, found: string[], written = html): Row {
  return { what, html, found, written };
}

describe('what HTML refers to', () => {
  it.each(ROWS)('is found in $what', ({ html, found }) => {
    expect(referencesOf({ text: html })).toEqual(found);
  });

  it.each(ROWS)('is written relative in $what', ({ html, written }) => {
    expect(rewritten({ text: html })).toBe(written);
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
  ])('is, in a link of rel %s, of kind %s', (rel, kind) => {
    expect(referencesOf({ text: `<link rel="${rel}" href="/x.y">` })).toEqual([`${kind} /x.y`]);
  });

  it('stays absolute and without a suffix where machines read the public address', () => {
    const text =
      '<link rel="canonical" href="https://docs.example.com/guides/start"><link rel=canonical href="/guides/start">' +
      '<meta property="og:url" content="http://127.0.0.1:8080/guides/start">' +
      '<link rel="alternate" hreflang="de" href="/de/start"><meta property="og:image" content="/card.png">';
    expect(rewritten({ text })).toBe(
      '<link rel="canonical" href="https://docs.example.com/guides/start"><link rel=canonical href="https://docs.example.com/guides/start">' +
        '<meta property="og:url" content="https://docs.example.com/guides/start">' +
        '<link rel="alternate" hreflang="de" href="https://docs.example.com/de/start"><meta property="og:image" content="https://docs.example.com/card.png">',
    );
  });

  it('is resolved against <base>, which stays as a relative one', () => {
    const text = '<base href="/ref/" target="_blank"><a href="x"><a href="#part"><img src="i.png">';
    expect(referencesOf({ text })).toEqual(['page /ref/x', 'page /ref/', 'asset /ref/i.png']);
    expect(rewritten({ text })).toBe(
      '<base href="../ref/" target="_blank"><a href="x.html"><a href="index.html#part"><img src="i.png">',
    );
  });

  it('is relative to the page itself before a <base>, and where that is of another host', () => {
    expect(rewritten({ text: '<img src="/a.png"><base href="/"><img src="a.png"><base href="/b/">' })).toBe(
      '<img src="../a.png"><base href="../"><img src="a.png"><base>',
    );
    expect(rewritten({ text: '<base href="https://c.org/d/"><img src="a.png"><a href="b">' })).toBe(
      '<base><img src="../_external/c.org/d/a.png"><a href="https://c.org/d/b">',
    );
  });

  it('is written in full to a part of the page itself where a <base> leads elsewhere', () => {
    expect(rewritten({ text: '<base href="/"><a href="guides/start#b"><svg><use href="#s"/></svg>' })).toBe(
      '<base href="../"><a href="guides/start.html#b"><svg><use href="#s"/></svg>',
    );
    expect(rewritten({ text: '<base href="/guides/"><a href="more">' })).toBe('<base href="./"><a href="more.html">');
  });

  it('has no other base than the root in the not-found page', () => {
    const text = '<html><head><base href="/ref/"></head><a href="x">';
    expect(rewritten({ text, ownPath: '404.html' })).toMatch(/<base><\/head><a href="ref\/x.html">/);
  });

  it('is nothing in documents nested deeper than anybody means to', () => {
    const nest = (inner: string) =>
      `<iframe srcdoc="${inner.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`;
    const image = '<img src="/i.png">';
    expect(referencesOf({ text: nest(nest(nest(image))) })).toEqual(['asset /i.png']);
    expect(rewritten({ text: nest(nest(nest(image))) })).toBe(nest(nest(nest('<img src="../i.png">'))));
    expect(referencesOf({ text: nest(nest(nest(nest(image)))) })).toEqual([]);
  });

  it('is guessed from inline scripts without being touched', () => {
    const text = '<script>load("/data/search.json"); go("/guides/more"); x = "a.js"; y = "assets\\/z.css"</script>';
    expect(resourcesOf({ text })).toEqual(['probe /data/search.json', 'probe /assets/z.css']);
    expect(rewritten({ text })).toBe(text);
  });

  it('is kept as the author spelled it where that leads to the same file', () => {
    const text =
      '<meta charset=utf-8><a href="./more.html"><a href="../guides/more.html#x"><img src="caf\u00e9.png"><a href="b%c3%bc.html">';
    expect(rewritten({ text })).toBe(text);
  });
});
