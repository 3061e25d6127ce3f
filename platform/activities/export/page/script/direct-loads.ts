import type { Collector } from '../collector.ts';
import type { SpannedText } from '../spanned-text.ts';

/** Calls that load what their first literal says, resolved against the page that runs them (or the worker). */
const LOAD =
  /(?:\bfetch\s*\(|\bnew\s+(?:Shared)?Worker\s*\(|\.addModule\s*\(|\bserviceWorker\s*\.\s*register\s*\(|\.open\s*\(\s*["']GET["']\s*,)\s*(["'`])([^"'`\\\s$]{1,2000})\1\s*([,)])/g;
const IMPORT_SCRIPTS = /\bimportScripts\s*\(([^()]{1,4000})\)/g;
const LITERAL = /(["'])([^"'\\\s]+)\1/g;
const RESOLVE = /\bimport\.meta\.resolve\s*\(\s*(["'`])((?:\.{0,2}\/|https?:)[^"'`\\\s$]*)\1\s*\)/g;
const ABSOLUTE = /^(?:https?:)?\/\//i;
/** A call that sends something isn't one that loads a file. */
const SENDS = /^[^;]{0,200}?\bmethod\s*:/;

/**
 * What a script loads by calls with a literal address: `fetch`, workers, worklets, `importScripts`. `isInline`: the
 * script stands in a page, so that a relative address has one meaning and can be rewritten. In a file it may be meant
 * from any page: it is looked for beside the script and at the site's root and stays as it is. What comes from another
 * host is written from the bundle's root (layer `r`).
 */
export function extractDirectLoads(script: SpannedText, layers: string, collector: Collector, isInline: boolean): void {
  const { text } = script;
  for (const match of text.matchAll(LOAD)) {
    const [call, , address = '', next] = match;
    const after = match.index + call.length;
    if (next === ',' && SENDS.test(text.slice(after, after + 220))) continue;
    const from = match.index + call.lastIndexOf(address);
    const place = { span: script, from, to: from + address.length, layers: `q${layers}` };
    if (ABSOLUTE.test(address)) referAbsolute(place, collector, isInline);
    else if (isInline) collector.refer(place, 'probe');
    else {
      collector.mention(address, 'probe');
      if (!address.startsWith('/')) collector.mention(`/${address.replace(/^(?:\.{1,2}\/)+/, '')}`, 'probe');
    }
  }
  for (const match of text.matchAll(IMPORT_SCRIPTS)) {
    for (const literal of (match[1] ?? '').matchAll(LITERAL)) {
      const from = match.index + match[0].indexOf('(') + 1 + literal.index + 1;
      collector.refer({ span: script, from, to: from + (literal[2] ?? '').length, layers: `q${layers}` }, 'asset');
    }
  }
  for (const match of text.matchAll(RESOLVE)) {
    const address = match[2] ?? '';
    const from = match.index + match[0].lastIndexOf(address);
    collector.refer({ span: script, from, to: from + address.length, layers: `mq${layers}` }, 'asset');
  }
}

function referAbsolute(place: Parameters<Collector['refer']>[0], collector: Collector, isInline: boolean): void {
  const layers = isInline ? place.layers : `r${place.layers}`;
  const isOutside = collector.leavesSite(place.span.text.slice(place.from, place.to));
  collector.refer({ ...place, layers }, isOutside ? 'asset' : 'probe');
}
