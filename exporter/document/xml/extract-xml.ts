import type { Collector } from '../collector.ts';
import { extractCss } from '../css/extract-css.ts';
import { PAINTS } from '../css/paint-attributes.ts';
import { scanMarkup } from '../html/scan-markup.ts';
import { verbatim } from '../spanned-text.ts';
import { extractFeed } from './extract-feed.ts';

const STYLESHEET = /^<\?xml-stylesheet\b[^>]*?\bhref\s*=\s*(["'])(.*?)\1/s;

/** Links that a reader follows; the URLs of other SVG elements are loaded. */
const LINKS: ReadonlySet<string> = new Set(['a']);
const URL_ATTRIBUTES: ReadonlySet<string> = new Set(['href', 'xlink:href', 'src']);

/** Tiles that old browsers show for a pinned site. */
const TILE = /^(?:square|wide)\d+x\d+logo$|^tileimage$/;

/**
 * Reads SVG (`svg`). From other XML, reads stylesheets, feed and sitemap URLs, and tiles of pinned sites. `source` is
 * latin1.
 */
export function extractXml(source: string, svg: boolean, collector: Collector): void {
  if (!svg) extractFeed(source, collector);
  const isOfInterest = (name: string): boolean => (svg ? URL_ATTRIBUTES.has(name) || isStyle(name) : name === 'src');
  scanMarkup(
    source,
    { xml: true, isOfInterest },
    {
      tag(tag) {
        if (!svg && !TILE.test(tag.name)) return;
        for (const { name, value, layer } of tag.attributes) {
          if (isStyle(name)) extractCss(value, layer, collector);
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

function isStyle(name: string): boolean {
  return name === 'style' || PAINTS.has(name);
}
