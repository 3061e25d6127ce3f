import type { ResourceKind } from '../../urls/identity.ts';
import type { OriginPlace } from '../collector.ts';
import { PAINTS } from '../css/extract-css.ts';

type Kinds = Readonly<Record<string, ResourceKind>>;

const BACKGROUND: Kinds = { background: 'asset' };
const CITE: Kinds = { cite: 'endpoint' };
const SVG_IMAGE: Kinds = { href: 'asset', 'xlink:href': 'asset' };
const MEDIA: Kinds = { src: 'asset', poster: 'asset', 'data-src': 'asset', 'data-poster': 'asset' };

/**
 * Attributes that hold one URL, by element. Elements with special rules (link, meta, form, script) have their own
 * readers.
 */
const KINDS: Readonly<Record<string, Kinds>> = {
  a: { href: 'page', 'xlink:href': 'page' },
  area: { href: 'page' },
  img: { src: 'asset', longdesc: 'endpoint', 'data-src': 'asset', 'data-lazy-src': 'asset', 'data-original': 'asset' },
  source: { src: 'asset', 'data-src': 'asset' },
  video: MEDIA,
  audio: MEDIA,
  track: { src: 'asset' },
  input: { src: 'asset', formaction: 'endpoint' },
  button: { formaction: 'endpoint' },
  object: { data: 'asset' },
  embed: { src: 'asset' },
  iframe: { src: 'page', 'data-src': 'page', longdesc: 'endpoint' },
  frame: { src: 'page', longdesc: 'endpoint' },
  body: BACKGROUND,
  table: BACKGROUND,
  thead: BACKGROUND,
  tbody: BACKGROUND,
  tr: BACKGROUND,
  td: BACKGROUND,
  th: BACKGROUND,
  blockquote: CITE,
  q: CITE,
  del: CITE,
  ins: CITE,
  use: SVG_IMAGE,
  // Outside of SVG, browsers treat `<image src>` as `<img>`.
  image: { ...SVG_IMAGE, src: 'asset' },
  feimage: SVG_IMAGE,
  'astro-island': { 'component-url': 'asset', 'renderer-url': 'asset', 'before-hydration-url': 'asset' },
};

const NONE: Kinds = {};

/** The attributes of an element (in lower case) that hold one URL each. */
export function kindsOf(element: string): Kinds {
  return Object.hasOwn(KINDS, element) ? (KINDS[element] ?? NONE) : NONE;
}

/** Attributes that hold several image candidates. */
export const SRCSETS: ReadonlySet<string> = new Set(['srcset', 'imagesrcset', 'data-srcset', 'data-lazy-srcset']);

/** Attributes used by lazy-loading scripts on any element; a URL only if the value looks like a file. */
const LAZY: ReadonlySet<string> = new Set([
  'data-src',
  'data-lazy',
  'data-lazy-src',
  'data-original',
  'data-background',
  'data-background-image',
  'data-bg',
  'data-bg-image',
  'data-image',
  'data-image-src',
  'data-poster',
  'data-thumb',
  'data-full',
  'data-zoom-image',
]);
const FILE =
  /^[^\s{}<>"'`()]+\.(?:avif|bmp|gif|ico|jpe?g|jxl|mp3|mp4|m4v|mov|ogg|ogv|pdf|png|svg|webm|webp)(?:[?#]|$)/i;

export function isLazyUrl(attribute: string, value: string): boolean {
  return LAZY.has(attribute) && FILE.test(value);
}

/** Custom elements choose their own attributes; these two are a URL, of any host, if the value looks like an image. */
export function isCustomElementUrl(element: string, attribute: string, value: string): boolean {
  return element.includes('-') && (attribute === 'src' || attribute === 'poster') && FILE.test(value);
}

/** Attributes of HTML and SVG that never hold a URL, or hold text that a reader sees. */
const NEVER: ReadonlySet<string> = new Set([
  ...['class', 'id', 'for', 'alt', 'title', 'label', 'placeholder', 'summary', 'abbr', 'lang', 'dir', 'role'],
  ...['width', 'height', 'size', 'align', 'valign', 'border', 'cellpadding', 'cellspacing', 'colspan', 'rowspan'],
  ...['tabindex', 'accesskey', 'target', 'loading', 'decoding', 'sizes', 'scope', 'headers', 'start', 'value', 'min'],
  ...['max', 'step', 'pattern', 'accept', 'language', 'color', 'bgcolor', 'slot', 'part', 'nonce', 'referrerpolicy'],
  ...['d', 'points', 'transform', 'viewbox', 'version', 'xmlns', 'x', 'y', 'x1', 'x2', 'y1', 'y2', 'cx', 'cy', 'r'],
]);

/** Whether the export may need an attribute (in lower case). */
export function isOfInterest(name: string): boolean {
  return !NEVER.has(name) && !name.startsWith('aria-');
}

/** Elements with their own readers, which know each attribute but `data-*`. */
const READ: ReadonlySet<string> = new Set(['link', 'script', 'meta', 'base', 'form']);
/** Attributes for which a reader looks, beside the ones that hold URLs. */
const READ_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...[
    'name',
    'rel',
    'as',
    'type',
    'integrity',
    'crossorigin',
    'property',
    'itemprop',
    'http-equiv',
    'content',
    'charset',
  ],
  ...['action', 'method', 'async', 'defer', 'hreflang', 'media'],
]);

/** Whether an attribute is one that no standard defines as a URL, so that its value decides. */
export function isUndefined(element: string, attribute: string): boolean {
  if (READ_ATTRIBUTES.has(attribute)) return false;
  return !READ.has(element) || attribute.startsWith('data-');
}

/** Attributes of HTML that hold URLs, or parts of them. */
const URLS: ReadonlySet<string> = new Set([
  ...Object.values(KINDS).flatMap((kinds) => Object.keys(kinds)),
  ...['action', 'ping', 'style', 'srcdoc', ...SRCSETS, ...PAINTS],
]);
/** Texts that a script shows or copies. */
const SHOWN = /text|copy|clip|code|title|label|caption|snippet|command/;

/** Where the address of the origin in an attribute is part of a URL; undefined if it may be a text that a reader sees. */
export function originPlace(attribute: string): OriginPlace | undefined {
  if (URLS.has(attribute)) return 'anywhere';
  return SHOWN.test(attribute) || isEventHandler(attribute) ? undefined : 'whole';
}

/** In these attributes, a bare file name is likely to be a URL; elsewhere it may be a title. */
const NAMES = /src|url|uri|href|image|img|poster|background|\bbg|video|audio|model/;

export function acceptsNames(attribute: string): boolean {
  return NAMES.test(attribute);
}

export function isEventHandler(name: string): boolean {
  return name.length > 2 && name.charCodeAt(0) === 111 && name.charCodeAt(1) === 110;
}

/** The URL of one image candidate, as character positions in the attribute's value. */
type SrcsetCandidate = { from: number; to: number };

const SPACE = /[\t\n\f\r ]/;

/**
 * Splits a `srcset` as the HTML standard does ("parse a srcset attribute"): a URL ends at the next space and loses
 * trailing commas, which end its candidate. Commas inside a URL or in parentheses of a descriptor don't.
 */
export function parseSrcset(value: string): SrcsetCandidate[] {
  const candidates: SrcsetCandidate[] = [];
  let index = 0;
  while (index < value.length) {
    while (index < value.length && (SPACE.test(value.charAt(index)) || value[index] === ',')) index += 1;
    if (index >= value.length) break;
    const from = index;
    while (index < value.length && !SPACE.test(value.charAt(index))) index += 1;
    let to = index;
    while (to > from && value[to - 1] === ',') to -= 1;
    if (to > from) candidates.push({ from, to });
    if (to === index) index = afterDescriptors(value, index);
  }
  return candidates;
}

function afterDescriptors(value: string, start: number): number {
  let inParentheses = false;
  for (let index = start; index < value.length; index += 1) {
    const character = value[index];
    if (character === '(') inParentheses = true;
    else if (character === ')') inParentheses = false;
    else if (character === ',' && !inParentheses) return index + 1;
  }
  return value.length;
}
