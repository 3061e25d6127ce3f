import fc from 'fast-check';
import { parseSrcset } from '../../../../../platform/activities/export/page/html/srcset.ts';
import { extractFrom, rewritten } from './engine.ts';

/** Markup in pieces, as hostile as a random choice makes it. */
const piece = fc.oneof(
  fc.constantFrom(
    '<a href=',
    '<img src="',
    "<img srcset='",
    '<style>',
    '</style>',
    '<script type=module>',
    '</script>',
  ),
  fc.constantFrom(
    '<link rel="stylesheet" href="',
    '<base href="',
    '<meta http-equiv=refresh content="',
    '<!--',
    '-->',
    '<![CDATA[',
  ),
  fc.constantFrom(
    '"',
    "'",
    '>',
    '/>',
    ' ',
    '=',
    '&amp;',
    '&#x2f;',
    '&quot',
    'url(',
    ')',
    '@import "',
    '\\',
    '//',
    '#',
    '?',
  ),
  fc.constantFrom('/x', 'a/b.png', 'http://127.0.0.1:8080/y', 'https://o.org/z', ' 2x, ', ';url=', 'é', '\ufeff', '\0'),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const markup = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
const type = fc.constantFrom(
  'text/html; charset=utf-8',
  'text/css',
  'text/javascript',
  'image/svg+xml',
  'application/xhtml+xml',
);

describe('any document', () => {
  it('yields spans that are ordered, apart and inside it', () => {
    fc.assert(
      fc.property(markup, type, (text, contentType) => {
        const { references, marks, resources } = extractFrom({ text, type: contentType });
        let end = 0;
        for (const [start, stop, resource] of references) {
          expect(start).toBeGreaterThanOrEqual(end);
          expect(stop).toBeGreaterThanOrEqual(start);
          expect(resources[resource]).toBeDefined();
          end = stop;
        }
        for (const [start, stop] of marks) expect(start).toBeLessThanOrEqual(stop);
        const length = Buffer.byteLength(text);
        expect(Math.max(end, ...marks.map(([, stop]) => stop))).toBeLessThanOrEqual(length);
      }),
      { numRuns: 2000 },
    );
  });

  it('of bytes that are no text does no harm', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), type, (bytes, contentType) => {
        extractFrom({ text: bytes, type: contentType });
      }),
    );
  });
});

const name = fc
  .constantFrom('a', 'b.png', 'sub/c.css', '../d', 'über', 'x y', "it's", '%25', 'q(1)', 'a&b', 'a,b', '"')
  .map((each) => encodeURI(each));

describe('a page of relative links', () => {
  it('is written byte by byte as it was, where everything stays where it is', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.nat(3)), { maxLength: 12 }), (links) => {
        const text = links
          .map(([each, form]) => {
            const file = /\.(png|css)$/.test(each) ? each : `${each}.html`;
            const html = file.replaceAll('&', '&amp;');
            return [
              `<a href="${html}#f">`,
              `<img src='${html.replaceAll("'", '%27')}'>`,
              `<a href=./${html}>`,
              `<q cite="${html}">`,
            ][form];
          })
          .join('');
        expect(
          rewritten({ text, target: ({ url }) => ({ path: decodeURIComponent(new URL(url).pathname.slice(1)) }) }),
        ).toBe(text);
      }),
    );
  });

  it('says the same when it is read again at its new place', () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 12 }), (names) => {
        const text = names.map((each) => `<a href="/${each.replaceAll('"', '')}">`).join('');
        const target = ({ url }: { url: string }) => ({
          path: decodeURIComponent(new URL(url).pathname.slice(1)) || 'index.html',
        });
        const again = rewritten({ text, target });
        expect(extractFrom({ text: again }).resources).toEqual(
          extractFrom({ text }).resources.map((each) => ({ ...each, url: each.url.replace(/\/$/, '/index.html') })),
        );
      }),
    );
  });
});

describe('srcset', () => {
  const address = fc.stringMatching(/^[a-z/.:(][a-z0-9/.,:()-]{0,15}[a-z0-9/]$/);
  const descriptor = fc.constantFrom('', ' 1x', ' 200w', '  2x 3h', ' fn(a, b)');
  const separator = fc.constantFrom(', ', ' ,', ',\n');

  it('gives back the candidates it was made of', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(address, descriptor, separator)), (candidates) => {
        const value = candidates.map(([url, size, comma]) => `${url}${size}${comma}`).join('');
        expect(parseSrcset(value).map(({ from, to }) => value.slice(from, to))).toEqual(candidates.map(([url]) => url));
      }),
    );
  });
});

describe('a hostile document', () => {
  const repeat = (text: string) => (times: number) => text.repeat(times);
  const numbered = (count: number, value: string) =>
    Array.from({ length: count }, (_, index) => `${index}:${value}`).join();
  /** A page that VitePress made, as far as its first script. */
  const VITEPRESS = '<meta content="VitePress"><script src="/assets/app.x.js"></script>';
  const HOSTILE: [string, (times: number) => string, string?][] = [
    ['one endless attribute', (n) => `<a href="${'x'.repeat(8 * n)}">`],
    ['one endless attribute of entities', (n) => `<p style="${'&quot;'.repeat(n)}url(a)">`],
    ['an unterminated attribute', (n) => `<a href="${'<a '.repeat(n)}`],
    ['unterminated tags', repeat('<a href=x ')],
    ['deep nesting', repeat('<div><svg>')],
    ['a tag of many attributes', (n) => `<a ${Array.from({ length: n }, (_, index) => `on${index}=1`).join(' ')}>`],
    ['half a comment', (n) => `<!--${'- '.repeat(n)}<!--`],
    ['many comments before nothing', (n) => '<!-- x -->'.repeat(n)],
    ['a srcset of commas', (n) => `<img srcset="${', ,'.repeat(n)}">`],
    ['many script ends', repeat('<script>"</script>')],
    ['open parentheses', repeat('a{b:url( '), 'text/css'],
    ['escapes without end', (n) => `@import "${'\\'.repeat(2 * n)}`, 'text/css'],
    ['quotes without end', repeat('"a/b.c/'), 'text/javascript'],
    ['a path without end', (n) => `"/${'a/'.repeat(n)}`, 'text/javascript'],
    ['nested imports', repeat('import("'), 'text/javascript'],
    ['calls without end', repeat('fetch("'), 'text/javascript'],
    ['scripts imported without end', repeat('importScripts('), 'text/javascript'],
    ['documents in documents', repeat('<iframe/srcdoc=')],
    ['an import map of escaped quotes', (n) => `<script type=importmap>"${'\\"'.repeat(n)}</script>`],
    ['a feed of escaped quotes', (n) => `"${'\\"'.repeat(n)}`, 'application/feed+json'],
    ['a feed of escapes', (n) => `["${'\\\\'.repeat(n)}","x`, 'application/feed+json'],
    ['VitePress and script beginnings', (n) => `<meta content="VitePress">${'<script '.repeat(n)}`],
    ['VitePress and link beginnings', (n) => `${VITEPRESS}${'<link href="'.repeat(n)}`],
    ['a search and replacements without end', (n) => `"pagefind/";${'"".replace('.repeat(n)}`, 'text/javascript'],
    ['meta beginnings in another charset', (n) => `é${'<meta '.repeat(n)}`, 'text/html; charset=iso-8859-2'],
    ['a charset and spaces', (n) => `é<meta charset=${' '.repeat(n)}`, 'text/html; charset=iso-8859-2'],
    ['a bundler of many chunks', (n) => `a.u=e=>({${numbered(n / 8, '"x"')}})[e]+".js"`, 'text/javascript'],
    ['brackets', repeat('[{"a":'), 'application/manifest+json'],
  ];

  /** Time of the processor, and the least of three, so that a busy machine is no proof of anything. */
  function leastCpuMs(text: string, contentType: string): number {
    const runs = [1, 2, 3].map(() => {
      const start = process.cpuUsage();
      extractFrom({ text, type: contentType });
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    });
    return Math.min(...runs);
  }

  it.each(HOSTILE)('of %s takes time in proportion to its size', (_, make, contentType = 'text/html') => {
    const [small, large] = [make(2_000), make(64_000)];
    leastCpuMs(small, contentType);
    // 32 times the size: a square would be 1,000 times the time.
    expect(leastCpuMs(large, contentType)).toBeLessThan(200 * Math.max(leastCpuMs(small, contentType), 1));
  });
});
