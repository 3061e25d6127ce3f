import { decodeBytes, isVerbatim, rawOffset, type SpannedText } from './spanned-text.ts';
import type {
  DocumentFormat,
  Extraction,
  FrameworkName,
  Mark,
  MarkKind,
  Reference,
  Resource,
  ResourceKind,
  Site,
} from './types.ts';
import { normalizeUrl } from './url-identity.ts';

/** No sensible address is longer; what is (data in an attribute) isn't worth parsing. */
const MAX_URL_BYTES = 8192;
const LEADING_SPACE = /^[\t\n\f\r ]+/;
const TRAILING_SPACE = /[\t\n\f\r ]+$/;

/** Where an address stands: characters `from` to `to` of a text, and how a new one must be escaped there. */
export type Place = { span: SpannedText; from: number; to: number; layers: string };

/** Gathers what one document refers to: addresses resolved and made one, spans cut free of fragments. */
export class Collector {
  readonly url: string;
  private base: string;
  private readonly site: Site;
  private readonly resources: Resource[] = [];
  private readonly references: Reference[] = [];
  private readonly marks: Mark[] = [];
  private readonly byText = new Map<string, number>();
  private readonly byUrl = new Map<string, number>();

  /** `url` is the document's own address, normalised. */
  constructor(url: string, site: Site) {
    this.url = url;
    this.base = url;
    this.site = site;
  }

  /** From here on relative addresses are resolved against `href` (itself relative to the document). */
  setBase(href: string): void {
    this.base = normalizeUrl(href, this.site, this.url) ?? this.base;
  }

  /**
   * An address that stands in the document; `decoded` is what it spells where that differs from the text (escapes).
   * Returns the resource's index, or undefined where it leads nowhere (other schemes, the document itself).
   */
  refer(place: Place, kind: ResourceKind, decoded?: string): number | undefined {
    const { span, layers } = place;
    const found = span.text.slice(place.from, place.to);
    const from = place.from + (LEADING_SPACE.exec(found)?.[0].length ?? 0);
    const to = Math.max(from, place.to - (TRAILING_SPACE.exec(found)?.[0].length ?? 0));
    const text = decoded?.trim() ?? span.text.slice(from, to);
    if (text === '' || text.length > MAX_URL_BYTES) return undefined;

    const hash = text.indexOf('#');
    // With a <base> elsewhere even "#top" leads to another document.
    if (hash === 0 && this.base === this.url) return undefined;
    const resource = this.mention(hash < 0 ? text : text.slice(0, hash), kind);
    if (resource === undefined) return undefined;

    const start = rawOffset(span, from);
    const cut = decoded === undefined && hash >= 0 && isVerbatim(span, from + hash);
    const end = rawOffset(span, cut ? from + hash : to);
    if (cut || hash < 0) this.references.push([start, end, resource, layers]);
    else this.references.push([start, end, resource, layers, encodedFragment(text.slice(hash))]);
    return resource;
  }

  /** An address that the document needs without a span to rewrite. Relative to the document's base unless told. */
  mention(text: string, kind: ResourceKind, base = this.base): number | undefined {
    const key = `${kind} ${base} ${text}`;
    const known = this.byText.get(key);
    if (known !== undefined) return known < 0 ? undefined : known;
    const url = normalizeUrl(decodeBytes(text), this.site, base);
    const index = url === undefined ? -1 : this.indexOf(url, kind);
    this.byText.set(key, index);
    return index < 0 ? undefined : index;
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
    return { format, framework, resources: this.resources, references, marks: this.marks };
  }

  private indexOf(url: string, kind: ResourceKind): number {
    const key = `${kind} ${url}`;
    const known = this.byUrl.get(key);
    if (known !== undefined) return known;
    this.resources.push({ url, kind });
    this.byUrl.set(key, this.resources.length - 1);
    return this.resources.length - 1;
  }
}

function byStart(a: readonly [number, ...unknown[]], b: readonly [number, ...unknown[]]): number {
  return a[0] - b[0];
}

function encodedFragment(text: string): string {
  return new URL(decodeBytes(text), 'https://fragment.invalid/').hash;
}
