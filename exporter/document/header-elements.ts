import type { Site } from '../urls/identity.ts';
import { readDocument } from './document.ts';
import { extract } from './extract.ts';
import type { FetchedDocument, PageDocument } from './types.ts';

/** Link relations that describe the page's files or related pages. The others concern only the HTTP transfer. */
const RELS: ReadonlySet<string> = new Set([
  ...['stylesheet', 'preload', 'modulepreload', 'icon', 'next', 'prev', 'alternate', 'canonical'],
]);
const ATTRIBUTES = [
  ...['as', 'type', 'media', 'hreflang', 'title', 'integrity', 'crossorigin', 'imagesrcset', 'imagesizes'],
] as const;

/** Enough for any real page; protects against headers with thousands of links. */
const MAX_ELEMENTS = 200;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The elements that replace a page's headers, because a file has none: `<link>` for `Link` and `<meta
 * http-equiv="refresh">` for `Refresh`. ASCII, and empty if there are no such headers.
 */
export function elementsOfHeaders(headers: Headers): string {
  const links = linesOf(headers.link).flatMap(readLinkHeader).flatMap(linkElement);
  const [refresh] = linesOf(headers.refresh);
  const elements = [
    ...(refresh === undefined ? [] : [`<meta http-equiv="refresh" content="${escaped(refresh)}"/>`]),
    ...new Set(links),
  ];
  return elements.slice(0, MAX_ELEMENTS).join('');
}

const REFRESH = /^<meta http-equiv="refresh" content="[^"]*"\/>/;

/** The refresh element of `elementsOfHeaders`, which comes first; empty if there is none. */
export function refreshOf(elements: string): string {
  return REFRESH.exec(elements)?.[0] ?? '';
}

/**
 * Prepares a response as a document. The elements made of its headers go to the start of its head, because headers
 * take effect before the page.
 */
export function readResponseDocument(
  response: FetchedDocument,
  elements: string | undefined,
  site: Site,
): PageDocument {
  const document = readDocument(response);
  if (elements === undefined || elements === '' || document.format !== 'html') return document;
  const head = extract(document, site).marks.find(([, , kind]) => kind === 'head')?.[0] ?? 0;
  // The document is in UTF-8 here. Its own charset declaration may now come too late for browsers.
  const inserted = Buffer.from(`<meta charset="utf-8"/>${elements}`);
  const { bytes } = document;
  return { ...document, bytes: Buffer.concat([bytes.subarray(0, head), inserted, bytes.subarray(head)]) };
}

function linkElement({ target, parameters }: HeaderLink): string[] {
  const rels = (parameters.get('rel') ?? '').split(/\s+/).filter((rel) => RELS.has(rel.toLowerCase()));
  // A link with an anchor describes something other than the page.
  if (rels.length === 0 || target === '' || parameters.has('anchor')) return [];
  const attributes = ATTRIBUTES.flatMap((name) => {
    const value = parameters.get(name);
    return value === undefined ? [] : [` ${name}="${escaped(value)}"`];
  });
  return [`<link rel="${escaped(rels.join(' '))}" href="${escaped(target)}"${attributes.join('')}/>`];
}

function linesOf(header: string | string[] | undefined): string[] {
  return header === undefined ? [] : [header].flat();
}

function escaped(text: string): string {
  return text.replace(/[^ !#-%'-;=?-~]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/** One link of a `Link` header. Parameter names are in lower case; the first of a repeated parameter counts. */
type HeaderLink = { target: string; parameters: ReadonlyMap<string, string> };

const TARGET = /[\s,]*<([^>]*)>/y;
/** A parameter's value may be a token, a quoted string with escapes, or missing (empty). */
const PARAMETER = /\s*;\s*(?:([^\s=;,"<>]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?)?/y;

/** Reads a `Link` header (RFC 8288, section 3). Never throws: parsing stops at a syntax error. */
export function readLinkHeader(header: string): HeaderLink[] {
  const links: HeaderLink[] = [];
  for (let at = 0; ; ) {
    TARGET.lastIndex = at;
    const target = TARGET.exec(header)?.[1];
    if (target === undefined) return links;
    at = TARGET.lastIndex;
    const parameters = new Map<string, string>();
    for (PARAMETER.lastIndex = at; ; ) {
      const found = PARAMETER.exec(header);
      if (found === null) break;
      at = PARAMETER.lastIndex;
      const [, name, quoted, token = ''] = found;
      const key = name?.toLowerCase();
      if (key !== undefined && !parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/g, '$1') ?? token);
    }
    links.push({ target: target.trim(), parameters });
  }
}
