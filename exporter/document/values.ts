import type { Collector } from './collector.ts';
import { extractCss } from './css/extract-css.ts';
import { parseSrcset } from './html/attributes.ts';
import { decodedJson } from './javascript/json.ts';
import type { SpannedText } from './spanned-text.ts';

/**
 * Which values are links. A value that no standard defines as a URL is a guess if it looks like the URL of a file, and
 * the origin decides: a guess that it doesn't have changes nothing.
 */

/**
 * How a possible URL is written: with a host, from the root (`plain` without an extension), as a path with folders, or as
 * a bare file name.
 */
export type Form = 'absolute' | 'rooted' | 'plain' | 'path' | 'name';

const MAX_LENGTH = 2_000;
const UNLIKELY = /[\s<>{}"`\\^|*$]|\]\(/;
const ABSOLUTE = /^(?:https?:)?\/\/[^/?#]+\/[^?#]*[^/?#]/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
/** With a letter in it, because `/docs/1.2` is no file. */
const EXTENSION = /[^/]\.(?=[a-z0-9]*[a-z])[a-z0-9]{1,12}$/i;
const PAGE = /\.x?html?(?:[?#]|$)/i;
/** A path from the root that has no extension. */
const PLAIN_PATH = /^\/[\w~%.-]+(?:\/[\w~%.-]+)*$/;

/** The form of a possible URL of a file; undefined if the text is none. */
export function formOf(text: string): Form | undefined {
  if (text.length > MAX_LENGTH || UNLIKELY.test(text)) return undefined;
  if (ABSOLUTE.test(text)) return 'absolute';
  if (text.startsWith('//') || SCHEME.test(text)) return undefined;
  const path = text.split(/[?#]/, 1)[0] ?? '';
  if (!EXTENSION.test(path)) return PLAIN_PATH.test(text) ? 'plain' : undefined;
  if (path.startsWith('/')) return 'rooted';
  return path.includes('/') ? 'path' : 'name';
}

/** Whether a possible URL leads to a file by its name. */
export function isNamedFile(text: string): boolean {
  const form = formOf(text);
  if (form !== 'absolute') return form === 'rooted' || form === 'path';
  return EXTENSION.test(text.split(/[?#]/, 1)[0] ?? '') && !PAGE.test(text);
}

/** Longer values are data. */
const MAX_LIST_LENGTH = 64 * 1024;
const CSS_URL = /\burl\(/i;
const DESCRIPTOR = /\s\d+(?:\.\d+)?[wx]\s*(?:,|$)/;
const ITEM = /[^\s,;|]+/g;

/**
 * Adds what the value of an attribute refers to: the URL of a file, several of them, image candidates, CSS, or JSON and
 * code with URLs in quotes.
 *
 * @param acceptsNames whether a bare file name counts
 */
export function referValue(value: SpannedText, layer: string, acceptsNames: boolean, collector: Collector): void {
  const { text } = value;
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > MAX_LIST_LENGTH) return;
  const guess = (from: number, to: number, layers: string): void => {
    if (isWithFolders(formOf(text.slice(from, to)))) collector.refer({ span: value, from, to, layers }, 'guess');
  };
  const form = isList(trimmed) ? undefined : formOf(trimmed);
  if (form !== undefined) {
    if (acceptsNames || form !== 'name') {
      collector.refer({ span: value, from: 0, to: text.length, layers: layer }, 'guess');
    }
  } else if (CSS_URL.test(text)) {
    extractCss(value, layer, collector);
  } else if (/["']/.test(text)) {
    referQuoted(value, { quote: text.includes('"') ? '"' : "'", layers: `pq${layer}`, acceptsPlain: true }, collector);
  } else if (DESCRIPTOR.test(text)) {
    for (const { from, to } of parseSrcset(text)) guess(from, to, `,${layer}`);
  } else if (isList(trimmed)) {
    for (const { 0: item, index } of text.matchAll(ITEM)) guess(index, index + item.length, layer);
  }
}

function isWithFolders(form: Form | undefined): boolean {
  return form !== undefined && form !== 'name';
}

/** Whether a value consists of several URLs. One URL may have commas and semicolons too. */
function isList(text: string): boolean {
  const items = text.match(ITEM) ?? [];
  return items.length > 1 && items.every((item) => isWithFolders(formOf(item)));
}

/** A quoted text that may be a URL, and isn't the key of a JSON object. */
const QUOTED = {
  '"': /"((?:https?:|\.{0,2}\\?\/)[^"\s<>{}]{1,2000}|[\w@%~.-]{1,200}(?:\\?\/[\w@%~.-]{1,200}){1,20}(?:[?#][^"\s]{0,500})?)"(?!\s*:)/gi,
  "'": /'((?:https?:|\.{0,2}\\?\/)[^'\s<>{}]{1,2000}|[\w@%~.-]{1,200}(?:\\?\/[\w@%~.-]{1,200}){1,20}(?:[?#][^'\s]{0,500})?)'(?!\s*:)/gi,
} as const;
/** A relative path or a bare file name under a key that says so. */
const NAMED = /"(?:\$ref|uri|url|src|href)"\s*:\s*"([\w@%~./-]{1,500}\.[a-z0-9]{1,12}(?:#[^"\s]{0,500})?)"/gi;
/** A whole plain or quoted scalar, and the same under such a key. */
const YAML = /[:-][ \t]+["']?((?:https?:\/\/|\.{0,2}\/)[^\s"'<>{}[\],]{1,2000})["']?[ \t]*(?=[\r\n#]|$)/gi;
const YAML_NAMED =
  /(?:\$ref|uri|url|src|href)["']?:[ \t]*["']?([\w@%~./-]{1,500}\.[a-z0-9]{1,12}(?:#[^\s"']{0,500})?)["']?[ \t]*(?=[\r\n#}]|$)/gi;

type Quote = keyof typeof QUOTED;
/** Positions in a text; `decoded` if the URL is written with escapes; `isNamed` if its key says that it is one. */
type FoundUrl = { from: number; to: number; form: Form; decoded: string | undefined; isNamed: boolean };

/** The quoted texts in JSON or code that may be the URL of a file, as positions between the quotes. */
export function* quotedUrls(text: string, quote: Quote = '"'): Generator<FoundUrl> {
  for (const match of text.matchAll(QUOTED[quote])) yield* foundIn(match, false);
}

/** The same for the strings of a JSON file. */
export function* jsonUrls(text: string): Generator<FoundUrl> {
  yield* quotedUrls(text);
  for (const match of text.matchAll(NAMED)) yield* foundIn(match, true);
}

/** The same for the scalars of YAML. */
export function* yamlUrls(text: string): Generator<FoundUrl> {
  for (const match of text.matchAll(YAML)) yield* foundIn(match, false);
  for (const match of text.matchAll(YAML_NAMED)) yield* foundIn(match, true);
}

function* foundIn({ 0: whole, 1: written = '', index }: RegExpExecArray, isNamed: boolean): Generator<FoundUrl> {
  const decoded = decodedJson(written);
  const form = formOf(decoded ?? written);
  const from = index + whole.lastIndexOf(written);
  if (form !== undefined) yield { from, to: from + written.length, form, decoded, isNamed };
}

/** Adds the URLs of files in JSON that a page contains. */
export function referQuoted(
  json: SpannedText,
  { quote = '"', layers, acceptsPlain = false }: { quote?: Quote; layers: string; acceptsPlain?: boolean },
  collector: Collector,
): void {
  for (const { from, to, form, decoded } of quotedUrls(json.text, quote)) {
    if (form === 'name' || (form === 'plain' && !acceptsPlain)) continue;
    collector.refer({ span: json, from, to, layers }, 'guess', decoded);
  }
}

/**
 * Adds the URLs of files in a data file. Scripts of any page may read it, so a whole URL becomes one from the root. All
 * others stay, because they lead to the same file as before.
 */
export function referDataFile(data: SpannedText, urls: Iterable<FoundUrl>, layers: string, collector: Collector): void {
  for (const { from, to, form, decoded, isNamed } of urls) {
    const text = (decoded ?? data.text.slice(from, to)).split('#', 1)[0] ?? '';
    if (form === 'absolute') collector.refer({ span: data, from, to, layers }, 'guess', decoded);
    else if (form === 'rooted' || isNamed || text.startsWith('.')) {
      if (!PAGE.test(text)) collector.mention(text, 'guess');
    }
  }
}
