import { type DefaultTreeAdapterTypes, html, parse, parseFragment, serialize } from 'parse5';
import { HELD_TYPE } from '../document/start-guard.ts';
import { SEARCH_FOLDER } from '../urls/assign-path.ts';
import { textsFor } from './search-texts.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** What the script of a search page needs to know (assets/search.js). */
export type SearchConfig = { language: string; commonWords: readonly string[]; bucketCount: number };

/** Where a page's main part is, the best first. */
const MAIN: ReadonlyArray<(element: Element) => boolean> = [
  ({ tagName }) => tagName === 'main',
  (element) => attribute(element, 'role') === 'main',
  (element) => /^(?:main-?|page-?)?content$/i.test(attribute(element, 'id') ?? ''),
  ({ tagName }) => tagName === 'article',
];
/** What stays of a body without a main part. */
const AROUND = new Set(['header', 'nav', 'footer', 'aside', 'script', 'style', 'link', 'noscript', 'template']);
/** What says which page this is; a search page is another. */
const IDENTITY_RELS = /^(?:canonical|alternate|amphtml|prev|next|shortlink)$/i;
const IDENTITY_NAMES = /^(?:og:|twitter:|article:|description$|keywords$|robots$|date$)/i;

/**
 * A search page in the layout of a start page of the bundle, for the same folder. Its main part is replaced; without one,
 * its body is, but for headers, footers and navigation.
 */
export function createSearchPage(startPage: { path: string; html: string }, config: SearchConfig): string {
  const document = parse(startPage.html);
  const all = [...elementsIn(document)];
  const head = all.find(({ tagName }) => tagName === 'head');
  const body = all.find(({ tagName }) => tagName === 'body');
  if (head === undefined || body === undefined) throw new Error(`${startPage.path} has no body`);
  for (const element of all) if (isOfStartPage(element)) remove(element);
  for (const element of all) if (element.tagName === 'meta') allowSearch(element);
  const root = '../'.repeat(startPage.path.split('/').length - 1);
  const texts = textsFor(config.language);
  append(head, `<title>${escapeHtml(texts.title)}</title><meta name="robots" content="noindex">`);
  if (!all.some((element) => attribute(element, 'name') === 'viewport')) {
    append(head, '<meta name="viewport" content="width=device-width, initial-scale=1">');
  }
  // The texts aren't ASCII, and a static host may send no charset.
  if (!all.some(isCharset)) append(head, '<meta charset="utf-8">', 0);
  append(head, `<link rel="stylesheet" href="${root}${SEARCH_FOLDER}search.css">`);
  const place = MAIN.map((isMain) => all.find((each) => isMain(each) && isWithin(each, body))).find(Boolean) ?? body;
  place.childNodes = place === body ? body.childNodes.filter(isAround) : [];
  const isLandmark = place.tagName === 'main' || attribute(place, 'role') === 'main';
  // After the header, and before the footer.
  const at = place === body ? lastOf(place.childNodes, ['header', 'nav']) + 1 : 0;
  append(place, searchForm(config, { isLandmark }), at);
  append(body, `<script type="module" src="${root}${SEARCH_FOLDER}search.js"></script>`);
  return serialize(document);
}

function searchForm(config: SearchConfig, { isLandmark }: { isLandmark: boolean }): string {
  const texts = textsFor(config.language);
  const label = escapeHtml(texts.label);
  const data = escapeHtml(JSON.stringify({ ...config, texts }));
  const tag = isLandmark ? 'div' : 'main';
  return `<${tag} class="galley-search" data-galley-search="${data}">
<h1>${escapeHtml(texts.title)}</h1>
<form role="search" hidden><label for="galley-search-query">${label}</label>
<input id="galley-search-query" name="q" type="search" autocomplete="off" spellcheck="false" enterkeyhint="search">
<button type="submit">${escapeHtml(texts.title)}</button></form>
<p role="status" aria-live="polite">${escapeHtml(texts.needsServer)}</p>
<ol aria-label="${escapeHtml(texts.title)}"></ol>
<button class="more" type="button" hidden>${escapeHtml(texts.more)}</button>
</${tag}>`;
}

/** Whether it is about the start page: its title and identity, and the framework that would render it again. */
function isOfStartPage(element: Element): boolean {
  const { tagName } = element;
  if (tagName === 'title') return element.namespaceURI === html.NS.HTML;
  if (tagName === 'link') return IDENTITY_RELS.test(attribute(element, 'rel') ?? '');
  if (tagName === 'meta') {
    return IDENTITY_NAMES.test(attribute(element, 'name') ?? attribute(element, 'property') ?? '');
  }
  if (tagName !== 'script') return false;
  const type = attribute(element, 'type') ?? '';
  return type === HELD_TYPE || /ld\+json$/i.test(type) || textOf(element).includes(HELD_TYPE);
}

/** Pagefind is WebAssembly, and its files are the site's own. */
function allowSearch(element: Element): void {
  const content = element.attrs.find(({ name }) => name === 'content');
  if (!/^content-security-policy$/i.test(attribute(element, 'http-equiv') ?? '') || content === undefined) return;
  const directives = content.value.split(';').map((each) => each.trim().split(/\s+/));
  content.value = directives.map(([name = '', ...sources]) => [name, ...allowed(name, sources)].join(' ')).join('; ');
}

function allowed(name: string, sources: readonly string[]): readonly string[] {
  const isScript = /^(?:default|script)-src(?:-elem)?$/i.test(name);
  if (!isScript && !/^(?:connect|style)-src(?:-elem)?$/i.test(name)) return sources;
  const kept = sources.filter((source) => !/^'none'$/i.test(source));
  return [...new Set([...kept, "'self'", ...(isScript ? ["'wasm-unsafe-eval'"] : [])])];
}

function* elementsIn(node: Node): Generator<Element> {
  // A stack: a hostile page may nest deeper than calls can.
  const stack: Node[] = [node];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if ('tagName' in next) yield next;
    if ('childNodes' in next) stack.push(...next.childNodes.toReversed());
  }
}

function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((each) => each.name === name)?.value;
}

function textOf({ childNodes }: Element): string {
  return childNodes.map((node) => ('value' in node ? node.value : '')).join('');
}

function remove(element: Element): void {
  const parent = element.parentNode;
  if (parent !== null) parent.childNodes = parent.childNodes.filter((node) => node !== element);
}

function append(parent: Element, markup: string, at = parent.childNodes.length): void {
  const nodes = parseFragment(markup).childNodes;
  for (const node of nodes) node.parentNode = parent;
  parent.childNodes.splice(at, 0, ...nodes);
}

function isCharset(element: Element): boolean {
  if (element.tagName !== 'meta') return false;
  const isType = /^content-type$/i.test(attribute(element, 'http-equiv') ?? '');
  return (
    attribute(element, 'charset') !== undefined || (isType && /charset/i.test(attribute(element, 'content') ?? ''))
  );
}

function isWithin(element: Element, ancestor: Element): boolean {
  for (let node: Node | null = element; node !== null; node = 'parentNode' in node ? node.parentNode : null) {
    if (node === ancestor) return true;
  }
  return false;
}

function isAround(node: Node): boolean {
  return 'tagName' in node && AROUND.has(node.tagName);
}

function lastOf(nodes: readonly Node[], names: readonly string[]): number {
  return nodes.findLastIndex((node) => 'tagName' in node && names.includes(node.tagName));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
