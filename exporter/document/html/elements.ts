import type { ResourceKind } from '../../urls/identity.ts';
import type { Collector } from '../collector.ts';
import { extractScript, probeLiterals } from '../javascript/extract-script.ts';
import { extractImportMap } from '../javascript/import-map.ts';
import { decodedJson, jsonStrings } from '../javascript/json.ts';
import { encodeBytes, type SpannedText } from '../spanned-text.ts';
import { formOf, isNamedFile, referQuoted } from '../values.ts';
import type { TagReader } from './tag-reader.ts';

const ASSETS = ['stylesheet', 'icon', 'preload', 'modulepreload', 'manifest', 'apple-touch-icon', 'mask-icon'];
const MORE_ASSETS = ['apple-touch-icon-precomposed', 'apple-touch-startup-image', 'fluid-icon', 'image_src', 'search'];
const IDENTITIES = ['canonical', 'shortlink', 'amphtml'];
const PAGES = [
  ...[
    'alternate',
    'next',
    'prev',
    'previous',
    'first',
    'last',
    'start',
    'up',
    'top',
    'home',
    'contents',
    'toc',
    'index',
  ],
  ...['chapter', 'section', 'subsection', 'appendix', 'glossary', 'copyright', 'help', 'author', 'license', 'bookmark'],
  ...['prerender', 'about', 'privacy-policy', 'terms-of-service', 'sitemap'],
];

const KIND_BY_REL: ReadonlyMap<string, ResourceKind> = new Map([
  ...PAGES.map((rel) => [rel, 'page'] as const),
  ...IDENTITIES.map((rel) => [rel, 'identity'] as const),
  ...[...ASSETS, ...MORE_ASSETS].map((rel) => [rel, 'asset'] as const),
]);

const MARKDOWN = /^text\/(?:x-)?markdown\b/i;

/** `<link>`: its rel decides how it is read, and may list several relations. */
export function readLinkElement(reader: TagReader): void {
  const rel = reader.value('rel').toLowerCase();
  if (rel === '') return;
  const rels = rel.split(/\s+/);
  if (rels.includes('preconnect') || rels.includes('dns-prefetch')) {
    const { start, end } = reader.tag;
    reader.collector.mark(start, end, 'hint', reader.value('href'));
    return;
  }
  const kind = linkKind(rels, reader);
  const resource = reader.refer('href', kind);
  if (rels.includes('alternate') && MARKDOWN.test(reader.value('type'))) reader.collector.twin ??= resource;
  if (kind === 'endpoint') guess(reader.value('href'), reader);
  if (isOutsidePage(rels, kind, resource, reader)) {
    const { start, end } = reader.tag;
    reader.collector.mark(start, end, 'hint', reader.value('href'));
    return;
  }
  if (rels.includes('stylesheet')) {
    reader.readCharset(resource);
    reader.collector.addStylesheet(resource);
  }
  markPreload(reader, rel, rels);
  const isFontPreload = rels.includes('preload') && reader.value('as') === 'font';
  if (!isFontPreload) reader.markGuards(resource);
}

function guess(value: string, { collector }: TagReader): void {
  if (isNamedFile(value)) collector.mention(encodeBytes(value), 'guess');
}

/** Whether a browser would prefetch or prerender a page of another host. */
function isOutsidePage(
  rels: readonly string[],
  kind: ResourceKind,
  resource: number | undefined,
  { collector }: TagReader,
): boolean {
  if (kind !== 'page' || resource === undefined || collector.isOnSite(resource)) return false;
  return rels.includes('prefetch') || rels.includes('prerender');
}

function linkKind(rels: readonly string[], reader: TagReader): ResourceKind {
  const kinds = rels.map((each) => KIND_BY_REL.get(each));
  if (kinds.includes('asset')) return 'asset';
  if (kinds.includes('identity')) return 'identity';
  if (rels.includes('prefetch')) return isPageHint(reader) ? 'page' : 'asset';
  // Translations are for machines that read the public site, as the canonical URL is.
  if (rels.includes('alternate') && reader.has('hreflang')) return 'identity';
  return kinds.includes('page') ? 'page' : 'endpoint';
}

function isPageHint(reader: TagReader): boolean {
  const as = reader.value('as');
  return (
    as === 'document' || (as === '' && !/\.(?!html?$)[a-z0-9]{1,8}$/i.test(reader.value('href').split('?')[0] ?? ''))
  );
}

/** Marks preloads, because a page whose scripts don't start needs none of their files. */
function markPreload(reader: TagReader, rel: string, rels: readonly string[]): void {
  if (rels.includes('stylesheet')) return;
  if (!rels.includes('modulepreload') && !rels.includes('preload') && !rels.includes('prefetch')) return;
  reader.markValue('rel', reader.value('as') === 'font' ? 'font' : 'preload', rel);
}

const KIND_BY_NAME: ReadonlyMap<string, ResourceKind> = new Map([
  ...['og:url', 'twitter:url'].map((name) => [name, 'identity'] as const),
  ...[
    ...['og:image', 'og:image:url', 'og:image:secure_url', 'og:video', 'og:video:url', 'og:video:secure_url'],
    ...['og:audio', 'og:audio:url', 'og:audio:secure_url', 'twitter:image', 'twitter:image:src', 'thumbnail', 'image'],
  ].map((name) => [name, 'card'] as const),
  ...[
    ...['msapplication-tileimage', 'msapplication-config', 'msapplication-square70x70logo'],
    ...['msapplication-square150x150logo', 'msapplication-wide310x150logo', 'msapplication-square310x310logo'],
  ].map((name) => [name, 'asset'] as const),
]);

const REFRESH = /^\s*\d*\.?\d*\s*[;,]?\s*(?:url\s*=\s*)?(["']?)/i;

/** `<meta>`: refresh, content security policy, preview cards and tiles. */
export function readMeta(reader: TagReader): void {
  switch (reader.value('http-equiv').toLowerCase()) {
    case 'refresh':
      readRefresh(reader);
      return;
    case 'content-security-policy':
    case 'content-security-policy-report-only':
      reader.markValue('content', 'csp', reader.value('content'));
      return;
  }
  for (const name of ['property', 'name', 'itemprop']) {
    const kind = KIND_BY_NAME.get(reader.value(name).toLowerCase());
    if (kind === undefined) continue;
    // `msapplication-config` uses "none" for no configuration.
    if (reader.value('content').toLowerCase() === 'none') return;
    reader.refer('content', kind);
    return;
  }
  readOtherMeta(reader);
}

/** What isn't named above is for scripts if it is a path, and for others if it is a whole URL. */
function readOtherMeta(reader: TagReader): void {
  const value = reader.value('content');
  const form = formOf(value);
  if (form === 'rooted' || form === 'path') reader.refer('content', 'guess');
  else if (form === 'absolute') guess(value, reader);
}

function readRefresh(reader: TagReader): void {
  const content = reader.attribute('content');
  if (content === undefined) return;
  const { text } = content.value;
  const [prefix = '', quote = ''] = REFRESH.exec(text) ?? [];
  const closing = quote === '' ? -1 : text.indexOf(quote, prefix.length);
  const to = closing < 0 ? text.length : closing;
  reader.collector.refer({ span: content.value, from: prefix.length, to, layers: content.layer }, 'page');
}

type ScriptType = 'classic' | 'module' | 'importmap' | 'speculationrules' | 'json' | 'structured' | 'data';

const JAVASCRIPT = /^(?:(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:jscript|livescript))$/;

function scriptType(reader: TagReader): ScriptType {
  const [type = ''] = reader.value('type').toLowerCase().split(';');
  if (type === '' || JAVASCRIPT.test(type)) return 'classic';
  if (type === 'module' || type === 'importmap' || type === 'speculationrules') return type;
  if (type === 'application/ld+json') return 'structured';
  return /^application\/(?:[\w.-]+\+)?json$/.test(type) ? 'json' : 'data';
}

/** Handles the opening tag of a `<script>`: its URL, and the marks that let a policy hold it back. */
export function readScriptTag(reader: TagReader): void {
  const { collector, tag } = reader;
  const type = scriptType(reader);
  if (type !== 'classic' && type !== 'module') {
    // Browsers don't load this type, but another script will, such as a consent banner or a compiler.
    reader.markGuards(reader.refer('src', 'asset'));
    return;
  }
  const attribute = reader.has('src') ? 'src' : reader.has('href') ? 'href' : 'xlink:href';
  const resource = reader.refer(attribute, 'asset');
  reader.markGuards(resource);
  if (type === 'module') {
    collector.mark(tag.nameEnd, tag.nameEnd, 'module', 'module');
    reader.mark('type', 'type');
    return;
  }
  reader.readCharset(resource);
  if (resource !== undefined && (reader.has('async') || reader.has('defer'))) {
    collector.mark(tag.nameEnd, tag.nameEnd, 'classic', resource);
  }
}

/** Handles the content of a `<script>`. Other types, such as templates, are not read. */
export function readScriptContent(reader: TagReader, content: SpannedText, end: number): void {
  const { collector, tag } = reader;
  switch (scriptType(reader)) {
    case 'importmap':
      extractImportMap(content, collector);
      return;
    case 'speculationrules':
      extractSpeculationRules(content, collector);
      return;
    case 'json':
      probeLiterals(content.text, collector);
      referQuoted(content, { layers: 'pq' }, collector);
      return;
    case 'structured':
      readStructuredData(content, collector);
      return;
    case 'classic':
    case 'module':
      collector.mark(tag.start, end, 'script');
      if (!reader.has('src')) extractScript(content, collector, true);
      return;
  }
}

/** Structured data (JSON-LD) is for others, so its URLs stay whole. */
function readStructuredData(json: SpannedText, collector: Collector): void {
  for (const { from, to } of jsonStrings(json.text)) {
    const written = json.text.slice(from, to);
    const value = decodedJson(written) ?? written;
    if (isNamedFile(value)) collector.mention(value, 'guess');
  }
  collector.markOrigin(json, 'quoted');
}

/** Speculation rules: pages that a browser may load in advance. Patterns (`href_matches`) stay unchanged. */
function extractSpeculationRules(json: SpannedText, collector: Collector): void {
  for (const { keys, from, to } of jsonStrings(json.text)) {
    if (keys.at(-1) !== 'urls') continue;
    collector.refer({ span: json, from, to, layers: 'q' }, 'page', decodedJson(json.text.slice(from, to)));
  }
}
