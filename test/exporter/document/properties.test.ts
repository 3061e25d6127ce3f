import { parseSrcset } from '../../../exporter/document/html/attributes.ts';
import fc, { anyCharacter } from '../../helpers/fast-check.ts';
import { extractFrom, rewritten } from './engine.ts';

/** Random pieces of markup. */
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
  fc.constantFrom('<link rel="stylesheet" href="', '<base href="', '<meta http-equiv=refresh content="'),
  fc.constantFrom('<!--', '-->', '<![CDATA['),
  fc.constantFrom('"', "'", '>', '/>', ' ', '=', '&amp;', '&#x2f;', '&quot', 'url(', ')', '@import "'),
  fc.constantFrom('\\', '//', '#', '?'),
  fc.constantFrom('/x', 'a/b.png', 'http://127.0.0.1:8080/y', 'https://o.org/z', ' 2x, ', ';url=', 'é', '\ufeff', '\0'),
  fc.string({ unit: anyCharacter, maxLength: 6 }),
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
  it('yields spans that are ordered, disjoint and inside the document', () => {
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

  it('of random bytes causes no error', () => {
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
  it('stays byte by byte the same if every file keeps its path', () => {
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

  it('has the same references when it is extracted again after the rewrite', () => {
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

  it('is split into its candidates', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(address, descriptor, separator)), (candidates) => {
        const value = candidates.map(([url, size, comma]) => `${url}${size}${comma}`).join('');
        expect(parseSrcset(value).map(({ from, to }) => value.slice(from, to))).toEqual(candidates.map(([url]) => url));
      }),
    );
  });
});
