import type { Resource, ResourceKind, Site } from '../urls/identity.ts';
import { isOfSite, normalizeReference, normalizeUrl } from '../urls/identity.ts';
import { type OriginNames, originNames } from '../urls/origin-names.ts';
import { AnchorCollector } from './anchors.ts';
import { charsetOfLabel, withEncodedQuery } from './charset.ts';
import { decodeBytes, isVerbatim, rawOffset, type SpannedText } from './spanned-text.ts';
import type { DocumentFormat, Extraction, FrameworkName, Mark, MarkKind, Reference } from './types.ts';

/** Longer values are not real URLs (often inline data) and aren't worth parsing. */
const MAX_URL_BYTES = 8192;

/** Marks of a nested document that apply to the outer one: those that need no escaping. */
const ADOPTED: ReadonlyMap<MarkKind, MarkKind> = new Map([
  ...(['integrity', 'crossorigin', 'ping', 'hint', 'handler', 'script', 'origin'] as const).map(
    (kind) => [kind, kind] as const,
  ),
  // URLs of the nested document are rewritten relative to the outer base, so its own base is removed.
  ['base', 'ping'] as const,
]);

/** More than real pages have. */
const MAX_GUESSES = 1_000;
const RELATIVE_PATH = /^(?![a-z][a-z0-9+.-]*:|[/#])/i;
/** More than any real page has; their product is the number of files that are looked up. */
const MAX_PROPERTY_PATHS = 50;
const MAX_STYLESHEETS = 20;

/**
 * Where the address of the origin is a URL: anywhere in the text, if the text is one URL, in a quoted text that is one
 * URL (in JSON), or as the value of a line.
 */
export type OriginPlace = 'anywhere' | 'whole' | 'quoted' | 'line';

const IS_PLACE: Readonly<Record<OriginPlace, (text: string, start: number, end: number) => boolean>> = {
  anywhere: () => true,
  whole: (text, start, end) =>
    start < MAX_INDENT && text.slice(0, start).trim() === '' && !/\s/.test(text.slice(end).trim()),
  quoted: (text, start, end) =>
    /(?:^|[^\\])"$|=\\"$/.test(text.slice(Math.max(0, start - 3), start)) && isQuotedUrl(text, end),
  line: (text, start) =>
    /(?:^|[\r\n])[ \t]*(?:-[ \t]+)?(?:[\w-]+[ \t]*:[ \t]*)?["']?$/.test(
      text.slice(Math.max(0, start - MAX_INDENT), start),
    ),
};

const MAX_INDENT = 100;

function isQuotedUrl(text: string, from: number): boolean {
  QUOTED_REST.lastIndex = from;
  return QUOTED_REST.test(text);
}

const QUOTED_REST = /(?:\\\/|[^\\"\s])*\\?"/y;

/** Where a URL is: characters `from` to `to` of a text, and how its replacement must be escaped. */
export type Place = { span: SpannedText; from: number; to: number; layers: string };

/** Collects the references of one document: resolves and deduplicates URLs, and leaves fragments out of the spans. */
export class Collector {
  readonly url: string;
  /** Whether to follow the document's links; its robots rules may forbid it. */
  follows = true;
  /** Whether the document is a page, whose stylesheets may use the custom properties that it sets. */
  isPage = false;
  /** The charset that the document had, if that isn't UTF-8. */
  charset: string | undefined;
  /** Whether the document may have the address of the origin. */
  namesOrigin = false;
  /** Why the end of the document was not read. */
  incomplete: string | undefined;
  /** The resource that is the page in Markdown. */
  twin: number | undefined;
  readonly anchors = new AnchorCollector();
  private base: string;
  private readonly site: Site;
  private readonly origin: OriginNames | undefined;
  private readonly resources: Resource[] = [];
  private readonly references: Reference[] = [];
  private readonly marks: Mark[] = [];
  private readonly isNested: boolean;
  private readonly importFolders: (readonly [prefix: string, url: string])[] = [];
  private guessCount = 0;
  private readonly stylesheets = new Set<number>();
  private readonly propertyPaths = new Set<string>();
  private readonly byText = new Map<string, Map<ResourceKind, Map<string, number>>>();
  private readonly byUrl = new Map<ResourceKind, Map<string, number>>();

  /** `url` is the document's own URL, normalized. */
  constructor(url: string, site: Site, isNested = false) {
    this.url = url;
    this.base = url;
    this.site = site;
    this.origin = originNames(site);
    this.isNested = isNested;
  }

  /** A collector for a document embedded in this one that shares its base, such as `srcdoc`. */
  nested(): Collector {
    const inner = new Collector(this.url, this.site, true);
    inner.base = this.base;
    inner.follows = this.follows;
    inner.charset = this.charset;
    inner.namesOrigin = this.namesOrigin;
    return inner;
  }

  /** Adds what a nested collector found in the text of `span`, which is escaped by `layer` here. */
  adopt(inner: Collector, span: SpannedText, layer: string): void {
    const indexes = inner.resources.map(({ url, kind, charset }) => {
      const index = this.indexOf(url, kind);
      this.giveCharset(index, charset);
      return index;
    });
    for (const [start, end, resource, layers, ...fragment] of inner.references) {
      const place = [rawOffset(span, start), rawOffset(span, end)] as const;
      this.references.push([...place, indexes[resource] ?? 0, layers + layer, ...fragment]);
    }
    for (const [start, end, kind, note] of inner.marks) {
      const adopted = ADOPTED.get(kind);
      if (adopted === undefined) continue;
      this.mark(rawOffset(span, start), rawOffset(span, end), adopted, typeof note === 'number' ? indexes[note] : note);
    }
  }

  /**
   * Registers a folder of the import map: specifiers that begin with `prefix` (ends in `/`) resolve below `url`.
   */
  mapImport(prefix: string, url: string): void {
    if (prefix.endsWith('/') && url.endsWith('/')) this.importFolders.push([prefix, url]);
  }

  /** Resolves a module specifier by the import map's folders; the longest prefix wins. */
  mappedImport(specifier: string): string | undefined {
    const [best] = this.importFolders
      .filter(([prefix]) => specifier.startsWith(prefix))
      .sort(([one], [other]) => other.length - one.length);
    return best && best[1] + specifier.slice(best[0].length);
  }

  /** Looks whether the document has the address of the origin at all, so that most calls of `markOrigin` end at once. */
  lookForOrigin(source: string): void {
    this.namesOrigin = this.origin !== undefined && source.includes(this.origin.host);
  }

  /** Whether a text may have an absolute URL of the site. */
  namesSite(text: string): boolean {
    return text.includes(this.site.domain) || text.includes(this.site.origin.slice(this.site.origin.indexOf('//') + 2));
  }

  /** The byte offsets where references begin. */
  referenceStarts(): Set<number> {
    return new Set(this.references.map(([start]) => start));
  }

  /** The base for relative URLs at this point of the document, normalized. */
  get currentBase(): string {
    return this.base;
  }

  isOnSite(resource: number): boolean {
    return isOfSite(this.resources[resource]?.url ?? '', this.site);
  }

  /** Says that the document loads a text, which has its charset or that of `label` if it declares none. */
  giveCharset(resource: number | undefined, label = ''): void {
    const charset = charsetOfLabel(label) ?? this.charset;
    const loaded = resource === undefined ? undefined : this.resources[resource];
    if (loaded !== undefined && charset !== undefined && charset !== 'utf-8') loaded.charset ??= charset;
  }

  /** Resolves and normalizes a URL of the document; undefined if it isn't http(s). */
  resolve(written: string, base = this.base): string | undefined {
    return normalizeReference(decodeBytes(written), this.site, base);
  }

  leavesSite(written: string): boolean {
    const url = normalizeReference(written, this.site, this.base);
    return url !== undefined && !isOfSite(url, this.site);
  }

  /** Sets the base for the relative URLs that follow. `href` itself is relative to the document. */
  setBase(href: string): void {
    this.base = normalizeUrl(href, this.site, this.url) ?? this.base;
  }

  /**
   * Adds a reference to a URL in the document. `decoded` is the unescaped URL if it differs from the text. Returns the
   * resource's index, or undefined if there is nothing to refer to (other schemes, the document itself).
   */
  refer(place: Place, kind: ResourceKind, decoded?: string): number | undefined {
    const { span, layers } = place;
    let { from, to } = place;
    while (from < to && isSpace(span.text.charCodeAt(from))) from += 1;
    while (to > from && isSpace(span.text.charCodeAt(to - 1))) to -= 1;
    const text = decoded?.trim() ?? span.text.slice(from, to);
    if (text === '' || text.length > MAX_URL_BYTES) return undefined;

    const hash = text.indexOf('#');
    // With a <base> on another URL, even "#top" links to another document. Paints and symbols are always local.
    if (hash === 0 && (this.base === this.url || this.isNested || kind === 'asset')) return undefined;
    // A space before the fragment is part of the URL: only at the end would it be dropped.
    const urlEnd = hash > 0 && isSpace(text.charCodeAt(hash - 1)) ? hash + 1 : hash;
    const resource = this.mention(hash < 0 ? text : text.slice(0, urlEnd), kind);
    if (resource === undefined) return undefined;

    const start = rawOffset(span, from);
    const cut = decoded === undefined && hash >= 0 && isVerbatim(span, from + hash);
    const end = rawOffset(span, cut ? from + hash : to);
    if (cut || hash < 0) this.references.push([start, end, resource, layers]);
    else this.references.push([start, end, resource, layers, encodedFragment(text.slice(hash))]);
    return resource;
  }

  /**
   * Adds a URL in a CSS custom property. Browsers resolve it against the stylesheet or page that uses the property, so
   * a relative one in a page is also looked up beside the page's stylesheets (`mentionProperties`). `isUsedHere`: in the
   * same stylesheet.
   */
  referInProperty(place: Place, isUsedHere: boolean, decoded?: string): void {
    const text = (decoded ?? place.span.text.slice(place.from, place.to)).trim();
    const isRelative = this.isPage && RELATIVE_PATH.test(text);
    if (this.refer(place, isRelative ? 'probe' : 'asset', decoded) === undefined) return;
    const start = this.references.at(-1)?.[0] ?? 0;
    this.mark(start, start, 'property', isRelative || (isUsedHere && !this.isPage) ? 'here' : 'elsewhere');
    if (isRelative && this.propertyPaths.size < MAX_PROPERTY_PATHS) this.propertyPaths.add(text);
  }

  addStylesheet(resource: number | undefined): void {
    if (resource !== undefined && this.stylesheets.size < MAX_STYLESHEETS) this.stylesheets.add(resource);
  }

  /** Call it when all stylesheets of the page are known. */
  mentionProperties(): void {
    for (const path of this.propertyPaths) {
      for (const sheet of this.stylesheets) this.mention(path, 'probe', this.resources[sheet]?.url);
    }
  }

  /**
   * Marks each address of the origin in a text, so that it becomes the public one. The rest of the URL stays, because it may be a template (`/search?q={terms}`).
   */
  markOrigin(span: SpannedText, where: OriginPlace): void {
    if (!this.namesOrigin || this.origin === undefined || !span.text.includes(this.origin.host)) return;
    for (const { 0: found, index } of span.text.matchAll(this.origin.any)) {
      const end = index + found.length;
      if (!IS_PLACE[where](span.text, index, end)) continue;
      this.mark(rawOffset(span, index), rawOffset(span, end), 'origin', this.origin.publicName(found));
    }
  }

  /** Adds a resource without a span to rewrite. `text` is relative to `base`. */
  mention(text: string, kind: ResourceKind, base = this.base): number | undefined {
    // Nested maps, because joining their keys for every link of a site is much slower.
    const texts = within(within(this.byText, base), kind);
    const known = texts.get(text);
    if (known !== undefined) return known < 0 ? undefined : known;
    const url = normalizeReference(withEncodedQuery(decodeBytes(text), this.charset), this.site, base);
    const index = url === undefined || (kind === 'guess' && !this.mayGuess(url)) ? -1 : this.indexOf(url, kind);
    texts.set(text, index);
    return index < 0 ? undefined : index;
  }

  /** Only the site is asked for guesses, and only so many that a document of data doesn't cost thousands of requests. */
  private mayGuess(url: string): boolean {
    if (this.guessCount >= MAX_GUESSES || !isOfSite(url, this.site)) return false;
    this.guessCount += 1;
    return true;
  }

  mark(start: number, end: number, kind: MarkKind, note?: string | number): void {
    this.marks.push(note === undefined ? [start, end, kind] : [start, end, kind, note]);
  }

  hasMark(kind: MarkKind): boolean {
    return this.marks.some((mark) => mark[2] === kind);
  }

  finish(format: DocumentFormat, framework: FrameworkName | null): Extraction {
    this.references.sort(byStart);
    this.marks.sort(byStart);
    let end = 0;
    const references = this.references.filter((reference) => {
      if (reference[0] < end) return false;
      end = reference[1];
      return true;
    });
    const extraction = { format, framework, resources: this.resources, references, marks: this.marks };
    const { charset, incomplete, twin } = this;
    const anchors = this.isPage && incomplete === undefined ? this.anchors.finish(this.hasMark('script')) : undefined;
    return {
      ...extraction,
      ...(anchors !== undefined && { anchors }),
      ...(twin !== undefined && { twin }),
      ...(charset !== undefined && { charset }),
      ...(incomplete !== undefined && { incomplete }),
    };
  }

  private indexOf(url: string, kind: ResourceKind): number {
    const urls = within(this.byUrl, kind);
    const known = urls.get(url);
    if (known !== undefined) return known;
    this.resources.push({ url, kind });
    urls.set(url, this.resources.length - 1);
    return this.resources.length - 1;
  }
}

/** The inner map of a key, created if missing. */
function within<Key, InnerKey, Value>(map: Map<Key, Map<InnerKey, Value>>, key: Key): Map<InnerKey, Value> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = new Map<InnerKey, Value>();
  map.set(key, made);
  return made;
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 9 || code === 13 || code === 12;
}

function byStart(a: readonly [number, ...unknown[]], b: readonly [number, ...unknown[]]): number {
  return a[0] - b[0];
}

function encodedFragment(text: string): string {
  return new URL(decodeBytes(text), 'https://fragment.invalid/').hash;
}
