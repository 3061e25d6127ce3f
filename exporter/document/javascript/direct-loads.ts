import type { Collector, Place } from '../collector.ts';
import type { SpannedText } from '../spanned-text.ts';

const MAY_LOAD = /fetch|Worker|addModule|\.open\s*\(|importScripts|meta\.resolve|src/;
/** Calls that load their first literal, relative to the page that runs them (or to the worker). */
const LOAD =
  /(?:\bfetch\s*\(|\bnew\s+(?:Shared)?Worker\s*\(|\.addModule\s*\(|\bserviceWorker\s*\.\s*register\s*\(|\.open\s*\(\s*["']GET["']\s*,)\s*(["'`])([^"'`\\\s$]{1,2000})\1\s*([,)])/g;
/** A literal assigned to an element. If more text is appended to it, it is not a URL. */
const SOURCE = /(?:\.src\s*=|\bsetAttribute\(\s*["']src["']\s*,)\s*(["'`])([^"'`\\\s$]{1,2000})\1(?!\s*[+.[])/g;
/** From other hosts only files are bundled; frames stay external. */
const FILE = /\.(?:m?js|css|json|wasm|svg|png|jpe?g|gif|webp|avif|ico|mp3|mp4|webm|ogg|wav|pdf|vtt)(?:[?#]|$)/i;
const IMPORT_SCRIPTS = /\bimportScripts\s*\(([^()]{1,4000})\)/g;
const LITERAL = /(["'])([^"'\\\s]+)\1/g;
const RESOLVE = /\bimport\.meta\.resolve\s*\(\s*(["'`])((?:\.{0,2}\/|https?:)[^"'`\\\s$]*)\1\s*\)/g;
const ABSOLUTE = /^(?:https?:)?\/\//i;
/** A call that sends data doesn't load a file. */
const SENDS = /^[^;]{0,200}?\bmethod["']?\s*[:,}]/;
/** Options in a variable or with a spread may also send data. */
const HIDES = /^\s*(?:[^{\s]|\{[^;]{0,200}?\.\.\.)/;

/**
 * The files that a script loads by a literal URL: `fetch`, workers, worklets, `importScripts`, an element's `src`. In
 * a page (`isInline`), a relative URL has one meaning and is rewritten. In a script file it depends on the page, so it
 * is looked up beside the script and at the site's root and stays unchanged. Files of other hosts are written from the
 * bundle's root (layer `r`).
 */
export function extractDirectLoads(script: SpannedText, layers: string, collector: Collector, isInline: boolean): void {
  const { text } = script;
  if (!MAY_LOAD.test(text)) return;
  for (const match of text.matchAll(LOAD)) {
    const [call, , url = '', next] = match;
    const after = match.index + call.length;
    if (next === ',' && SENDS.test(text.slice(after, after + 220))) continue;
    if (next === ',' && call.startsWith('fetch') && isElsewhere(url, collector)) {
      if (HIDES.test(text.slice(after, after + 220))) continue;
    }
    const from = match.index + call.lastIndexOf(url);
    refer({ span: script, from, to: from + url.length, layers: `q${layers}` }, url, collector, isInline);
  }
  for (const match of text.matchAll(SOURCE)) {
    const url = match[2] ?? '';
    if (ABSOLUTE.test(url) && !FILE.test(url)) continue;
    const from = match.index + match[0].lastIndexOf(url);
    refer({ span: script, from, to: from + url.length, layers: `q${layers}` }, url, collector, isInline);
  }
  for (const match of text.matchAll(IMPORT_SCRIPTS)) {
    for (const literal of (match[1] ?? '').matchAll(LITERAL)) {
      const from = match.index + match[0].indexOf('(') + 1 + literal.index + 1;
      collector.refer({ span: script, from, to: from + (literal[2] ?? '').length, layers: `q${layers}` }, 'asset');
    }
  }
  for (const match of text.matchAll(RESOLVE)) {
    const url = match[2] ?? '';
    const from = match.index + match[0].lastIndexOf(url);
    collector.refer({ span: script, from, to: from + url.length, layers: `mq${layers}` }, 'asset');
  }
}

function isElsewhere(url: string, collector: Collector): boolean {
  return ABSOLUTE.test(url) && collector.leavesSite(url);
}

function refer(place: Place, url: string, collector: Collector, isInline: boolean): void {
  if (ABSOLUTE.test(url)) {
    const layers = isInline ? place.layers : `r${place.layers}`;
    collector.refer({ ...place, layers }, isElsewhere(url, collector) ? 'asset' : 'probe');
  } else if (isInline) {
    collector.refer(place, 'probe');
  } else {
    collector.mention(url, 'probe');
    if (!url.startsWith('/')) collector.mention(`/${url.replace(/^(?:\.{1,2}\/)+/, '')}`, 'probe');
  }
}
