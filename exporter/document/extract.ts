import type { Resource, Site } from '../urls/identity.ts';
import { normalizeUrl } from '../urls/identity.ts';
import { Collector } from './collector.ts';
import { extractCss } from './css/extract-css.ts';
import { LLMS_INDEX } from './document.ts';
import type { Patch } from './frameworks/adapter.ts';
import { detectFramework, discoverInScript, patchScript } from './frameworks/detect.ts';
import { nextSegments } from './frameworks/next.ts';
import { pagefindFiles } from './frameworks/pagefind.ts';
import { gunzip } from './gzip.ts';
import { extractHtml } from './html/extract-html.ts';
import { extractScript, probeLiterals } from './javascript/extract-script.ts';
import { extractJsonFeed, extractWebManifest } from './javascript/json.ts';
import { extractDash } from './media/dash.ts';
import { extractHls } from './media/hls.ts';
import { extractWebVtt } from './media/webvtt.ts';
import { type SpannedText, verbatim } from './spanned-text.ts';
import type { DocumentFormat, Extraction, FrameworkName, PageDocument } from './types.ts';
import { jsonUrls, referDataFile, yamlUrls } from './values.ts';
import { extractXml } from './xml/extract-xml.ts';

/**
 * Reads a document's references and their positions. Pure, linear in the document's size, and never throws: broken
 * markup yields what a browser would see.
 */
export function extract(document: PageDocument, site: Site): Extraction {
  const { bytes, format } = document;
  const url = normalizeUrl(document.url, site) ?? document.url;
  const collector = new Collector(url, site);
  if (format === 'other') return collector.finish(format, null);
  collector.follows = document.nofollow !== true;
  collector.isPage = format === 'html';
  // Scripts encode queries in UTF-8.
  if (format !== 'js') collector.charset = document.charset;

  const text = document.gzip ? gunzip(bytes) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const source = text.toString('latin1');
  collector.lookForOrigin(source);
  const framework = read(document, source, collector);
  const extraction = collector.finish(format, framework);
  return document.gzip ? { ...extraction, gzip: true } : extraction;
}

function read(document: PageDocument, source: string, collector: Collector): FrameworkName | null {
  const whole = verbatim(source, 0, source.length);
  switch (document.format) {
    case 'html':
      extractHtml(source, /xhtml/i.test(document.contentType), collector);
      return readFramework(source, collector);
    case 'css':
      extractCss(whole, '', collector);
      break;
    case 'js':
      extractScript(whole, collector);
      for (const { url, kind } of discoverInScript(collector.url, source)) collector.mention(url, kind);
      markPatches(patchScript(source), collector);
      break;
    case 'svg':
    case 'xml':
      extractXml(source, document.format === 'svg', collector);
      break;
    case 'dash':
      extractDash(source, collector);
      break;
    case 'hls':
      extractHls(whole, collector);
      break;
    case 'vtt':
      extractWebVtt(whole, collector);
      break;
    case 'pagefind':
      for (const { url, kind } of pagefindFiles(new URL(collector.url).pathname, document.bytes)) {
        collector.mention(url, kind);
      }
      break;
    case 'next-tree':
      for (const { url, kind } of nextSegments(document.bytes)) collector.mention(url, kind);
      break;
    default:
      readData(document.format, whole, collector);
  }
  return null;
}

/** Reads what programs read, and text with links. */
function readData(format: DocumentFormat, whole: SpannedText, collector: Collector): void {
  switch (format) {
    case 'manifest':
      extractWebManifest(whole, collector);
      collector.markOrigin(whole, 'quoted');
      break;
    case 'feed':
      extractJsonFeed(whole, collector);
      collector.markOrigin(whole, 'quoted');
      break;
    case 'json':
      probeLiterals(whole.text, collector, 'guess');
      referDataFile(whole, jsonUrls(whole.text), 'rq', collector);
      collector.markOrigin(whole, 'quoted');
      break;
    case 'yaml':
      referDataFile(whole, yamlUrls(whole.text), 'r', collector);
      collector.markOrigin(whole, 'quoted');
      collector.markOrigin(whole, 'line');
      break;
    case 'fields':
      collector.markOrigin(whole, 'line');
      break;
    case 'urls':
      extractUrlList(whole, collector);
      break;
    case 'markdown':
      extractMarkdown(whole, collector);
      break;
  }
}

/** More lines are no list that a program reads. */
const MAX_LISTED = 50_000;

/** A list of URLs, such as a sitemap. */
function extractUrlList(list: SpannedText, collector: Collector): void {
  for (const line of list.text.split(/\s+/, MAX_LISTED)) if (line !== '') collector.mention(line, 'identity');
  collector.markOrigin(list, 'anywhere');
}

function extractMarkdown(markdown: SpannedText, collector: Collector): void {
  const isIndex = LLMS_INDEX.test(new URL(collector.url).pathname);
  if (!collector.namesOrigin && !isIndex) return;
  for (const { from, to } of markdownLinks(markdown.text)) {
    if (isIndex) collector.mention(markdown.text.slice(from, to), 'identity');
    collector.markOrigin(verbatim(markdown.text, from, to), 'anywhere');
  }
}

function readFramework(html: string, collector: Collector): FrameworkName | null {
  // A page without scripts doesn't hydrate.
  const framework = collector.hasMark('script') ? detectFramework(html) : undefined;
  if (framework === undefined) return null;
  for (const { url, kind } of framework.discover?.({ html, url: collector.url }) ?? []) {
    collector.mention(url, kind, collector.url);
  }
  markPatches(framework.patch?.(html) ?? [], collector);
  return framework.name;
}

function markPatches(patches: readonly Patch[], collector: Collector): void {
  for (const { start, end, text } of patches) collector.mark(start, end, 'patch', text);
}

/** The extraction as JSON for storage. */
export function serializeExtraction(extraction: Extraction): string {
  return JSON.stringify(extraction);
}

/** Parses the output of `serializeExtraction`. */
export function parseExtraction(text: string): Extraction {
  return JSON.parse(text);
}

const RESOURCES_KEY = Buffer.from('"resources":');
/** Unambiguous, because quotes inside JSON strings are escaped. */
const RESOURCES_END = Buffer.from('],"references":');

/** Parses only the resources of a stored extraction, which is much cheaper than parsing all of it. */
export function parseResources(stored: Uint8Array): Resource[] {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  const start = bytes.indexOf(RESOURCES_KEY);
  const end = bytes.indexOf(RESOURCES_END, start);
  if (start < 0 || end < 0) return [];
  return JSON.parse(bytes.toString('utf8', start + RESOURCES_KEY.length, end + 1));
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const CODE_SPAN = /(?<!`)(`+)(?!`)(?:[^`]|(?!(?<!`)\1(?!`))`)*?(?<!`)\1(?!`)/g;
/** The URL of an inline link, an autolink, a link definition, and HTML in the text. */
const LINKS = [
  /\]\(\s{0,10}<?([^\s<>()]{1,2000}(?:\([^\s<>()]{0,500}\)[^\s<>()]{0,2000})?)/g,
  /<(https?:\/\/[^\s<>]{1,2000})>/gi,
  /^ {0,3}\[[^\]\r\n]{1,500}\]:[ \t]{0,10}<?([^\s<>]{1,2000})/gm,
  /\b(?:href|src)=["']([^"'\s<>]{1,2000})["']/gi,
] as const;

/** The URLs of the links in Markdown, as character positions, in no meaningful order. Code has none. */
function markdownLinks(text: string): { from: number; to: number }[] {
  const prose = withoutCode(text);
  return LINKS.flatMap((pattern) =>
    [...prose.matchAll(pattern)].map(({ 0: whole, 1: url = '', index }) => {
      const from = index + whole.lastIndexOf(url);
      return { from, to: from + url.length };
    }),
  );
}

/** The text with spaces in place of its code, so that positions stay. */
function withoutCode(text: string): string {
  let fence = '';
  const lines = text.split('\n').map((line) => {
    const [, mark = ''] = FENCE.exec(line) ?? [];
    const isInside = fence !== '';
    if (!isInside) fence = mark;
    else if (mark.startsWith(fence) && line.trim() === mark) fence = '';
    return isInside || mark !== '' ? ' '.repeat(line.length) : line;
  });
  return lines.join('\n').replace(CODE_SPAN, (code) => ' '.repeat(code.length));
}
