import { init, parse } from 'es-module-lexer';
import type { Collector, Place } from '../collector.ts';
import { decodeBytes, encodeBytes, type SpannedText } from '../spanned-text.ts';
import { formOf } from '../values.ts';
import { referSiteLiterals } from './site-literals.ts';
import { extractSourceMap } from './source-map.ts';

await init();

const IMPORTS = /\bimport\b|\bexport\b/;
const ASSET_OF_MODULE = /\bnew\s+URL\(\s*(["'`])([^"'`\\$\s]*[^"'`\\$\s/])\1\s*,\s*import\.meta\.url/g;
/** Only these resolve without an import map; a bare name is a package. */
const URL_SPECIFIER = /^(?:\.{0,2}\/|https?:)/;

/**
 * Reads a script: static imports, dynamic imports of a literal, `new URL('…', import.meta.url)`, and string literals
 * that look like files. Guessed files stay unchanged in the script, because assets keep the origin's paths.
 */
export function extractScript(script: SpannedText, collector: Collector, isInline = false): void {
  const { text } = script;
  if (IMPORTS.test(text)) {
    referImports(script, collector);
    for (const match of text.matchAll(ASSET_OF_MODULE)) {
      const url = match[2] ?? '';
      const from = match.index + match[0].indexOf(url, match[0].indexOf('('));
      collector.refer({ span: script, from, to: from + url.length, layers: 'q' }, 'asset');
    }
  }
  extractDirectLoads(script, collector, isInline);
  referSiteLiterals(script, collector, isInline);
  probeLiterals(text, collector);
  extractSourceMap(script, '', collector);
}

function referImports(script: SpannedText, collector: Collector): void {
  for (const { specifier, start, end, glob } of importsOf(script.text)) {
    if (specifier === undefined || glob) continue;
    const mapped = URL_SPECIFIER.test(specifier) ? undefined : collector.mappedImport(specifier);
    if (mapped === undefined && !URL_SPECIFIER.test(specifier)) continue;
    const quoted = /["'`]/.test(script.text.charAt(start));
    const [from, to] = quoted ? [start + 1, end - 1] : [start, end];
    const written = script.text.slice(from, to);
    const decoded = mapped ?? (written.includes('\\') ? encodeBytes(specifier) : undefined);
    collector.refer({ span: script, from, to, layers: 'mq' }, 'asset', decoded);
  }
}

/** The specifiers that a module imports (dynamic imports only if literal), decoded from UTF-8. `text` is latin1. */
export function importSpecifiers(text: string): string[] {
  if (!IMPORTS.test(text)) return [];
  return importsOf(text).flatMap(({ specifier, glob }) =>
    specifier === undefined || glob ? [] : [decodeBytes(specifier)],
  );
}

type FoundImport = { specifier: string | undefined; start: number; end: number; glob: boolean };

/** A classic or broken script may not parse, and then has no imports. */
function importsOf(text: string): FoundImport[] {
  try {
    const [imports] = parse(text);
    return imports.flatMap((each) => {
      if (each.type === 'static' || each.type === 'reexport-star') return [{ ...spanOf(each), glob: false }];
      return each.type === 'dynamic' ? [{ ...spanOf(each), glob: each.glob }] : [];
    });
  } catch {
    return [];
  }
}

function spanOf({ specifier, start, end }: Omit<FoundImport, 'glob'>): Omit<FoundImport, 'glob'> {
  return { specifier, start, end };
}

const MAY_LOAD = /fetch|Worker|addModule|\.open\s*\(|importScripts|meta\.resolve|src/;
/** Calls that load their first literal, relative to the page that runs them (or to the worker). */
const LOAD =
  /(?:\bfetch\s*\(|\bnew\s+(?:Shared)?Worker\s*\(|\.addModule\s*\(|\bserviceWorker\s*\.\s*register\s*\(|\.open\s*\(\s*["']GET["']\s*,)\s*(["'`])([^"'`\\\s$]{1,2000})\1\s*([,)])/g;
/** A literal assigned to an element. If more text is appended to it, it is not a URL. */
const SOURCE = /(?:\.src\s*=|\bsetAttribute\(\s*["']src["']\s*,)\s*(["'`])([^"'`\\\s$]{1,2000})\1(?!\s*[+.[])/g;
/** The bundle includes only these files from other hosts; frames stay external. */
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
function extractDirectLoads(script: SpannedText, collector: Collector, isInline: boolean): void {
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
    refer({ span: script, from, to: from + url.length, layers: 'q' }, url, collector, isInline);
  }
  for (const match of text.matchAll(SOURCE)) {
    const url = match[2] ?? '';
    if (ABSOLUTE.test(url) && !FILE.test(url)) continue;
    const from = match.index + match[0].lastIndexOf(url);
    refer({ span: script, from, to: from + url.length, layers: 'q' }, url, collector, isInline);
  }
  for (const match of text.matchAll(IMPORT_SCRIPTS)) {
    for (const literal of (match[1] ?? '').matchAll(LITERAL)) {
      const from = match.index + match[0].indexOf('(') + 1 + literal.index + 1;
      collector.refer({ span: script, from, to: from + (literal[2] ?? '').length, layers: 'q' }, 'asset');
    }
  }
  for (const match of text.matchAll(RESOLVE)) {
    const url = match[2] ?? '';
    const from = match.index + match[0].lastIndexOf(url);
    collector.refer({ span: script, from, to: from + url.length, layers: 'mq' }, 'asset');
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

/** Files that scripts load, also by paths that bundlers write relative to the root. */
const LOADED: ReadonlySet<string> = new Set([
  ...['js', 'mjs', 'css', 'json', 'html', 'wasm', 'svg', 'png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'ico', 'woff'],
  ...['woff2', 'ttf', 'otf', 'eot', 'mp4', 'webm', 'mp3', 'ogg', 'wav', 'pdf', 'txt', 'xml', 'md', 'csv', 'bin', 'glb'],
  ...['gltf', 'webmanifest'],
]);
/**
 * A quoted path of plain characters. JSON in HTML often writes `/` as `\/`, and JSON in a script string has `\"`
 * quotes.
 */
const FILE_LITERAL =
  /["'`]((?:\.{0,2}\\?\/)?[\w@%.~-]+(?:\\?\/[\w@%.~-]+)*\.([a-z0-9]{1,12}))(?:\?[\w=&.%-]*)?\\?["'`]/gi;
/** A file name without a folder, after a word that says it is one. */
const NAME_LITERAL = /(?:url|uri|src|href)["'`]?\s*[:=]\s*["'`]([\w@%~-][\w@%.~-]{0,200}\.[a-z0-9]{1,12})["'`]/gi;
/** The same as an argument, as javadoc loads its search: `load(document, 'search.js')`. */
const ARGUMENT_LITERAL = /[(,]\s*["'`]([\w@%~-][\w@%.~-]{0,200}\.(?:m?js|json|css|wasm))["'`](?=\s*[),])/gi;

/**
 * Mentions files that string literals in a script seem to refer to: root-relative and relative paths, and paths such
 * as `assets/x.js` that bundlers write relative to the root. These are guesses and never rewritten. `kind`: of the files
 * that scripts usually load.
 */
export function probeLiterals(text: string, collector: Collector, kind: 'probe' | 'guess' = 'probe'): void {
  for (const [, path = '', extension = ''] of text.matchAll(FILE_LITERAL)) {
    // Without the query, because the script stays unchanged and a static host ignores queries.
    const plain = path.replaceAll('\\/', '/');
    if (!plain.includes('/') || plain.length > 300) continue;
    const isLoaded = LOADED.has(extension.toLowerCase());
    if (/^\.{0,2}\//.test(plain)) {
      if (isLoaded || formOf(plain) === 'rooted' || formOf(plain) === 'path')
        collector.mention(plain, isLoaded ? kind : 'guess');
    } else if (isLoaded) collector.mention(`/${plain}`, kind);
  }
  for (const literal of [NAME_LITERAL, ARGUMENT_LITERAL])
    for (const [, name = ''] of text.matchAll(literal)) if (formOf(name) === 'name') collector.mention(name, 'guess');
}
