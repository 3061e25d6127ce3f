import type { ResourceKind } from '../../urls/identity.ts';
import type { Collector } from '../collector.ts';
import { extractCss, PAINTS } from '../css/extract-css.ts';
import { isOfInterest, originPlace } from '../html/attributes.ts';
import { scanHtml } from '../html/scan-html.ts';
import { type Attribute, scanMarkup, type Tag } from '../html/scan-markup.ts';
import { type SpannedText, verbatim } from '../spanned-text.ts';

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
    { isOfInterest },
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
      raw(tag, content, _end, layer) {
        if (svg && tag.name === 'style') extractCss(content, layer, collector);
      },
      close() {},
      instruction(start, end) {
        const match = STYLESHEET.exec(source.slice(start, end));
        const href = match?.[2];
        if (match === null || href === undefined) return;
        const from = start + match[0].length - 1 - href.length;
        const span = verbatim(source, from, from + href.length);
        collector.giveCharset(collector.refer({ span, from: 0, to: href.length, layers: match[1] ?? '"' }, 'asset'));
      },
    },
  );
}

function isStyle(name: string): boolean {
  return name === 'style' || PAINTS.has(name);
}

type Kinds = Readonly<Record<string, ResourceKind>>;

/** Root elements of feeds and sitemaps, which are read by external programs. */
const ROOT = /^(?:rss|feed|rdf:rdf|urlset|sitemapindex|opensearchdescription)$/;

/** Elements whose text is a URL. */
const TEXTS: Kinds = {
  ...{ link: 'identity', loc: 'identity', comments: 'identity', uri: 'identity', guid: 'identity', id: 'identity' },
  ...{ url: 'card', icon: 'card', logo: 'card', image: 'card', 'moz:searchform': 'identity' },
  ...{
    'image:loc': 'card',
    'video:thumbnail_loc': 'card',
    'video:content_loc': 'card',
    'video:player_loc': 'identity',
  },
};
/** Entry ids are a URL only if they look like one. */
const NAMES: ReadonlySet<string> = new Set(['guid', 'id']);

/** Attributes that hold a URL, by element. */
const ATTRIBUTES: Readonly<Record<string, Kinds>> = {
  link: { href: 'identity' },
  'atom:link': { href: 'identity' },
  'xhtml:link': { href: 'identity' },
  enclosure: { url: 'card' },
  content: { src: 'card' },
  'media:content': { url: 'card' },
  'media:thumbnail': { url: 'card' },
  'itunes:image': { href: 'card' },
};

/** Elements whose text a reader sees. Their text may be HTML. */
const SHOWN =
  /^(?:a|b|code|dd|dt|em|i|kbd|li|p|pre|samp|span|strong|td|title|tt|name|description|summary|subtitle|content)$/;

/**
 * Reads a feed or sitemap. Its URLs use the public domain, because it is read from elsewhere. The files they refer to are
 * fetched too. Of other XML, only the addresses of the origin are marked.
 */
function extractFeed(source: string, collector: Collector): void {
  let isFeed: boolean | undefined;
  const isRelevant = /^(?:href|url|src|rel)$/;
  scanMarkup(
    source,
    {
      isOfInterest: (name) => collector.namesOrigin || isRelevant.test(name),
      hasText: (name) => collector.namesOrigin || (isFeed === true && Object.hasOwn(TEXTS, name)),
    },
    {
      tag(tag) {
        isFeed ??= ROOT.test(tag.name);
        for (const attribute of tag.attributes) {
          if (isFeed) referAttribute(tag, attribute, collector);
          const place = originPlace(attribute.name);
          if (place !== undefined) collector.markOrigin(attribute.value, place);
        }
      },
      raw({ name }, content, _end, layer) {
        if (isFeed) referText(name, content, layer, collector);
        if (content.text.includes('<')) markOriginInHtml(content, layer, collector);
        else if (!SHOWN.test(name)) collector.markOrigin(content, 'whole');
      },
      close() {},
    },
  );
}

/** Marks the addresses in the links of HTML that is a text of this document. */
function markOriginInHtml(html: SpannedText, layer: string, collector: Collector): void {
  if (!collector.namesOrigin) return;
  const inner = collector.nested();
  scanHtml(html.text, isOfInterest, {
    tag({ attributes }) {
      for (const { name, value } of attributes) {
        const place = originPlace(name);
        if (place !== undefined) inner.markOrigin(value, place);
      }
    },
    raw() {},
    close() {},
  });
  collector.adopt(inner, html, layer);
}

function referAttribute({ name, attributes }: Tag, { name: key, value, layer }: Attribute, collector: Collector): void {
  const kinds = Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : undefined;
  const isEnclosure = attributes.some((each) => each.name === 'rel' && each.value.text === 'enclosure');
  const kind = kinds !== undefined && Object.hasOwn(kinds, key) ? kinds[key] : undefined;
  if (kind === undefined) return;
  const place = { span: value, from: 0, to: value.text.length, layers: layer };
  collector.refer(place, isEnclosure ? 'card' : kind);
}

function referText(name: string, content: SpannedText, layers: '' | 'x', collector: Collector): void {
  const kind = Object.hasOwn(TEXTS, name) ? TEXTS[name] : undefined;
  if (kind === undefined || (NAMES.has(name) && !/^\s*https?:\/\//.test(content.text))) return;
  collector.refer({ span: content, from: 0, to: content.text.length, layers }, kind);
}
