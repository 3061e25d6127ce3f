import { readLinkHeader } from '../../../exporter/document/header-elements.ts';
import { isOfInterest } from '../../../exporter/document/html/attributes.ts';
import { scanHtml } from '../../../exporter/document/html/scan-html.ts';
import { MAX_ATTRIBUTES, type Tag } from '../../../exporter/document/html/scan-markup.ts';
import { runToEnd } from '../../helpers/run-to-end.ts';
import { extractFrom } from './engine.ts';

/** So long that quadratic work takes many minutes. */
const LENGTH = 1_000_000;
/** The most scans of the whole text. The current maximum is nine. */
const MAX_SCANS = 20;

const fill = (piece: string): string => piece.repeat(LENGTH / piece.length);
const numbered = (make: (index: number) => string, separator: string): string =>
  Array.from({ length: LENGTH / make(100_000).length }, (_, index) => make(index)).join(separator);

/** The start of a VitePress page, up to its first script. */
const VITEPRESS = '<meta content="VitePress"><script src="/assets/app.x.js"></script>';
const CSS = 'text/css';
const SCRIPT = 'text/javascript';
const FEED = 'application/feed+json';
const LATIN_2 = 'text/html; charset=iso-8859-2';

const DOCUMENTS: [what: string, text: string, contentType?: string][] = [
  ['one endless attribute', `<a href="${fill('x')}">`],
  ['one endless attribute of entities', `<p style="${fill('&quot;')}url(a)">`],
  ['an unterminated attribute', `<a href="${fill('<a ')}`],
  ['unterminated tags', fill('<a href=x ')],
  ['deep nesting', fill('<div><svg>')],
  ['a tag of many attributes', `<a ${numbered((index) => `on${index}=1`, ' ')}>`],
  ['half a comment', `<!--${fill('- ')}<!--`],
  ['many comments before nothing', fill('<!-- x -->')],
  ['a srcset of commas', `<img srcset="${fill(', ,')}">`],
  ['many script ends', fill('<script>"</script>')],
  ['open parentheses', fill('a{b:url( '), CSS],
  ['escapes without end', `@import "${fill('\\')}`, CSS],
  ['quotes without end', fill('"a/b.c/'), SCRIPT],
  ['a path without end', `"/${fill('a/')}`, SCRIPT],
  ['nested imports', fill('import("'), SCRIPT],
  ['calls without end', fill('fetch("'), SCRIPT],
  ['scripts imported without end', fill('importScripts('), SCRIPT],
  ['documents in documents', fill('<iframe/srcdoc=')],
  ['an import map of escaped quotes', `<script type=importmap>"${fill('\\"')}</script>`],
  ['a feed of escaped quotes', `"${fill('\\"')}`, FEED],
  ['a feed of escapes', `["${fill('\\\\')}","x`, FEED],
  ['VitePress and script beginnings', `<meta content="VitePress">${fill('<script ')}`],
  ['VitePress and link beginnings', `${VITEPRESS}${fill('<link href="')}`],
  ['a search and replacements without end', `"pagefind/";${fill('"".replace(')}`, SCRIPT],
  ['meta beginnings in another charset', `é${fill('<meta ')}`, LATIN_2],
  ['a charset and spaces', `é<meta charset=${fill(' ')}`, LATIN_2],
  ['a bundler of many chunks', `a.u=e=>({${numbered((index) => `${index}:"x"`, ',')}})[e]+".js"`, SCRIPT],
  ['an attribute of items', `<p data-x="${fill('/a.b,')}">`],
  ['an attribute of quotes', `<p data-x='{${fill('"')}'>`],
  ['URLs of the site without end', `docs.example.com ${fill('//a/')}`, SCRIPT],
  ['hosts without end', `docs.example.com ${fill('//a')}`, SCRIPT],
  ['slashes', `docs.example.com ${fill('/')}`, SCRIPT],
  ['escaped slashes', `docs.example.com ${fill('\\/')}`, SCRIPT],
  ['quoted slashes', fill('"/'), 'application/json'],
  ['quoted folders', fill('"a/'), 'application/json'],
  ['keys', fill('"$ref":'), 'application/json'],
  ['keys and spaces', `"url":${fill(' ')}`, 'application/json'],
  ['scalars', fill('- /a'), 'text/yaml'],
  ['colons', fill(': '), 'text/yaml'],
  ['dots', `$ref: ${fill('a.')}`, 'text/yaml'],
  [
    'segments',
    `<MPD mediaPresentationDuration="PT9999999S"><Period>${fill('<AdaptationSet/>')}`,
    'application/dash+xml',
  ],
  ['tags of a playlist', fill('#EXT:URI="'), 'application/x-mpegurl'],
  ['cues', fill('-->\n'), 'text/vtt'],
  ['cues without end', `-->\n${fill('a/')}`, 'text/vtt'],
  ['custom properties', fill('--a:url(/b);'), CSS],
  ['brackets', fill('[{"a":'), 'application/manifest+json'],
];

/** Runs the work and expects that it scans the text a limited number of times. */
function expectLinear(work: () => void): void {
  expect(scannedCharacters(() => runToEnd(work))).toBeLessThan(MAX_SCANS * LENGTH);
}

describe('a hostile document', () => {
  it.each(DOCUMENTS)('of %s is read in linear time', (_, text, type = 'text/html') => {
    expectLinear(() => extractFrom({ text, type }));
  });

  it.each([...['<!--', '<![CDATA[', '<a ', '<a b="', '</', '<script', '<title', '<!--a-->', '<script>', '<a b>']])(
    'of endless %s is scanned in linear time',
    (piece) => {
      const ignore = { tag: () => undefined, raw: () => undefined, close: () => undefined };
      expectLinear(() => scanHtml(fill(piece), isOfInterest, ignore));
    },
  );

  it('has at most MAX_ATTRIBUTES attributes per tag', () => {
    const counts: number[] = [];
    const visitor = {
      ...{ raw: () => undefined, close: () => undefined },
      tag: ({ attributes }: Tag) => void counts.push(attributes.length),
    };
    scanHtml(`<a ${numbered((index) => `on${index}=1`, ' ')}>`, isOfInterest, visitor);
    expect(counts).toEqual([MAX_ATTRIBUTES]);
  });

  it('can also be a Link header, which is parsed in linear time', () => {
    const header = `<a>${fill('; x="\\')}${fill(' ,')}${fill(';')}`;
    expectLinear(() => expect(readLinkHeader(header)).toHaveLength(1));
  });
});

/** A script whose chunk names the export wants to know, so that it is parsed. */
const RUNTIME = 'r.u=e=>e+".js";';

describe('a script of a bundler', () => {
  it.each([
    ...['`${', '(', '[', '{', '!', '1+', '2**', 'new ', 'a=>', 'a=', 'a?b:', 'a?', 'f(', 'a[', 'if(a)', 'if(a);else '],
    ...[
      'for(;;)',
      'do ',
      'with(a)',
      'try{',
      'function f(){',
      'class a extends ',
      'class a{b(){',
      'async()=>',
      'import(',
    ],
  ])('that nests %s too deep is not read', (piece) => {
    expect(() => extractFrom({ text: RUNTIME + piece.repeat(100_000), type: SCRIPT })).toThrow('nests too deep');
  });

  it('is read if it nests as deep as real ones do', () => {
    const text = `${RUNTIME}x=${'f('.repeat(50)}${'1+'.repeat(200)}1${')'.repeat(50)};e.e(7);`;
    expect(extractFrom({ text, type: SCRIPT }).resources).toEqual([
      { url: 'https://docs.example.com/guides/7.js', kind: 'probe' },
    ]);
  });

  it.each(['a.b', 'a()', 'a``', 'a?.b'])('is read if it has an endless chain such as %s', (link) => {
    const text = `${RUNTIME}x=a${link.slice(1).repeat(100_000)};e.e(7);`;
    expect(extractFrom({ text, type: SCRIPT }).resources).toHaveLength(1);
  });

  it('has names that are computed in bounded time', () => {
    const ids = Array.from({ length: 20_000 }, (_, id) => `${id}:1`).join();
    // Ids times parts are two thousand million.
    const part = `${'$'}{e}`;
    const text = `r.u=e=>({${ids}})[e]+\`${part.repeat(100_000)}\``;
    runToEnd(() => extractFrom({ text, type: SCRIPT }));
  });
});

/** Counts the characters that `indexOf`, `includes` and regular expressions scan while `work` runs. */
function scannedCharacters(work: () => void): number {
  const { indexOf, includes } = String.prototype;
  const { exec } = RegExp.prototype;
  let count = 0;
  const add = (from: number, to: number): void => {
    count += Math.max(0, to - from);
  };
  String.prototype.indexOf = function (this: string, sought: string, from = 0): number {
    const found = indexOf.call(this, sought, from);
    add(from, found === -1 ? this.length : found);
    return found;
  };
  String.prototype.includes = function (this: string, sought: string, from = 0): boolean {
    const found = indexOf.call(this, sought, from);
    add(from, found === -1 ? this.length : found);
    return found !== -1;
  };
  RegExp.prototype.exec = function (this: RegExp, text: string): RegExpExecArray | null {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const match = exec.call(this, text);
    if (match !== null) add(from, match.index + match[0].length);
    else if (!this.sticky) add(from, text.length);
    return match;
  };
  try {
    work();
  } finally {
    Object.assign(String.prototype, { indexOf, includes });
    Object.assign(RegExp.prototype, { exec });
  }
  return count;
}
