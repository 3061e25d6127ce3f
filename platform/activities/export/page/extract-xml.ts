import type { Collector } from './collector.ts';
import { extractCss } from './css/extract-css.ts';
import { scanMarkup } from './html/scan-markup.ts';
import { verbatim } from './spanned-text.ts';

const STYLESHEET = /^<\?xml-stylesheet\b[^>]*?\bhref\s*=\s*(["'])(.*?)\1/s;

/** SVG elements whose address is followed by a reader; every other element's is loaded. */
const LINKS: ReadonlySet<string> = new Set(['a']);
const ADDRESSES: ReadonlySet<string> = new Set(['href', 'xlink:href', 'src']);
/** Presentation attributes that may name another file's paint or filter. */
const PAINTS: ReadonlySet<string> = new Set([
  ...['style', 'fill', 'stroke', 'filter', 'mask', 'clip-path', 'cursor'],
  ...['marker-start', 'marker-mid', 'marker-end'],
]);

/** Reads SVG (`svg`), or of any other XML only its stylesheets. `source` is one character a byte. */
export function extractXml(source: string, svg: boolean, collector: Collector): void {
  const isOfInterest = (name: string): boolean => svg && (ADDRESSES.has(name) || PAINTS.has(name));
  scanMarkup(
    source,
    { xml: true, isOfInterest },
    {
      tag(tag) {
        for (const { name, value, layer } of tag.attributes) {
          if (PAINTS.has(name)) extractCss(value, layer, collector);
          else {
            const place = { span: value, from: 0, to: value.text.length, layers: layer };
            collector.refer(place, LINKS.has(tag.name) ? 'page' : 'asset');
          }
        }
      },
      raw(tag, content) {
        if (svg && tag.name === 'style') extractCss(content, 'x', collector);
      },
      close() {},
      instruction(start, end) {
        const match = STYLESHEET.exec(source.slice(start, end));
        const href = match?.[2];
        if (match === null || href === undefined) return;
        const from = start + match[0].length - 1 - href.length;
        const span = verbatim(source, from, from + href.length);
        collector.refer({ span, from: 0, to: href.length, layers: match[1] ?? '"' }, 'asset');
      },
    },
  );
}
