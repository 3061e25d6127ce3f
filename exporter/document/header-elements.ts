import { readDocument } from './document.ts';
import { extract } from './extract.ts';
import { type HeaderLink, readLinkHeader } from './html/link-header.ts';
import type { FetchedDocument, PageDocument, Site } from './types.ts';

/** What a page's headers may say of its files and of its place among others. The rest is for its way over the network. */
const RELS: ReadonlySet<string> = new Set([
  ...['stylesheet', 'preload', 'modulepreload', 'icon', 'next', 'prev', 'alternate', 'canonical'],
]);
const ATTRIBUTES = [
  ...['as', 'type', 'media', 'hreflang', 'title', 'integrity', 'crossorigin', 'imagesrcset', 'imagesizes'],
] as const;

/** Enough for any page; a header of thousands of links would make the page itself hard to find. */
const MAX_ELEMENTS = 200;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The elements that say what a page's headers say, `<link>` for `Link` and `<meta http-equiv="refresh">` for `Refresh`,
 * in ASCII: a file has no headers. Empty where there is nothing to say.
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

/** Of the elements that headers say, the one that leads a reader on; it stands first. Empty where there is none. */
export function refreshOf(elements: string): string {
  return REFRESH.exec(elements)?.[0] ?? '';
}

/**
 * Makes an answer ready as a document. What its headers say of a page stands at the start of its head then, before
 * anything it could depend on: a header counts before the page.
 */
export function readAnsweredDocument(
  answered: FetchedDocument,
  elements: string | undefined,
  site: Site,
): PageDocument {
  const document = readDocument(answered);
  if (elements === undefined || elements === '' || document.format !== 'html') return document;
  const head = extract(document, site).marks.find(([, , kind]) => kind === 'head')?.[0] ?? 0;
  // A page's own word on its charset might come too late for browsers now; it is in UTF-8 by here.
  const inserted = Buffer.from(`<meta charset="utf-8"/>${elements}`);
  const { bytes } = document;
  return { ...document, bytes: Buffer.concat([bytes.subarray(0, head), inserted, bytes.subarray(head)]) };
}

function linkElement({ target, parameters }: HeaderLink): string[] {
  const rels = (parameters.get('rel') ?? '').split(/\s+/).filter((rel) => RELS.has(rel.toLowerCase()));
  // With an anchor it speaks of something else than the page.
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
