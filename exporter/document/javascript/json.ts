import type { ResourceKind } from '../../urls/identity.ts';
import type { Collector } from '../collector.ts';
import type { SpannedText } from '../spanned-text.ts';

const KINDS: ReadonlyMap<string, ResourceKind> = new Map([
  ...['home_page_url', 'feed_url', 'next_url', 'url', 'external_url'].map((key) => [key, 'identity'] as const),
  ...['icon', 'favicon', 'image', 'banner_image', 'avatar'].map((key) => [key, 'card'] as const),
]);

/** A JSON Feed. Feed readers load it from elsewhere, so its URLs use the public domain. */
export function extractJsonFeed(json: SpannedText, collector: Collector): void {
  for (const { key, keys, from, to } of jsonStrings(json.text)) {
    const kind = keys.at(-2) === 'attachments' && key === 'url' ? 'card' : KINDS.get(key);
    if (kind === undefined) continue;
    collector.refer({ span: json, from, to, layers: 'q' }, kind, decodedJson(json.text.slice(from, to)));
  }
}

const IMAGE_LISTS = ['icons', 'screenshots'];

/** Members that refer to a page, on the top level or in these lists. */
const PAGES: ReadonlyMap<string, ResourceKind> = new Map([
  ['start_url', 'page'],
  ['shortcuts url', 'page'],
  ['file_handlers action', 'page'],
  ['share_target action', 'endpoint'],
]);

/**
 * A web app manifest: icons and screenshots (also of shortcuts), its pages, and its scope. `id` identifies the app to
 * browsers and stays unchanged.
 */
export function extractWebManifest(json: SpannedText, collector: Collector): void {
  for (const { key, keys, from, to } of jsonStrings(json.text)) {
    const isImage = key === 'src' && keys.some((each) => IMAGE_LISTS.includes(each));
    const isScope = key === 'scope' && keys.length === 1 && json.text[to - 1] === '/';
    const kind = isImage ? 'asset' : isScope ? 'folder' : PAGES.get(keys.length === 1 ? key : `${keys[1]} ${key}`);
    if (kind === undefined) continue;
    collector.refer({ span: json, from, to, layers: 'q' }, kind, decodedJson(json.text.slice(from, to)));
  }
}

/**
 * A JSON string value with its key (empty in arrays), as character positions between its quotes. With `isKey`, it is
 * itself a key.
 */
export type JsonString = { key: string; keys: readonly string[]; from: number; to: number; isKey: boolean };

const TOKEN_START = /["{}[\],:]/g;

/**
 * The string values of a JSON text with the keys that lead to them, outermost first. Never throws: an unterminated
 * string ends the text. The depth is bounded against hostile nesting. `withKeys` lists keys too.
 */
export function jsonStrings(text: string, { withKeys = false } = {}): JsonString[] {
  const strings: JsonString[] = [];
  const keys: string[] = [];
  let key = '';
  let lastString: { from: number; to: number } | undefined;

  const flush = (): void => {
    if (lastString !== undefined) strings.push({ key, keys: [...keys], ...lastString, isKey: false });
    lastString = undefined;
  };
  for (let index = nextToken(text, 0); index >= 0; index = nextToken(text, index + 1)) {
    const token = text[index];
    switch (token) {
      case '{':
      case '[':
        if (keys.length >= 64) return strings;
        keys.push(key);
        if (token === '{') key = '';
        break;
      case '}':
      case ']':
        flush();
        key = keys.pop() ?? '';
        break;
      case ',':
        flush();
        break;
      case ':':
        key = lastString === undefined ? key : text.slice(lastString.from, lastString.to);
        if (withKeys && lastString !== undefined) strings.push({ key, keys: [...keys], ...lastString, isKey: true });
        lastString = undefined;
        break;
      default: {
        const to = stringEnd(text, index + 1);
        if (to < 0) return strings;
        lastString = { from: index + 1, to };
        index = to;
      }
    }
  }
  flush();
  return strings;
}

function nextToken(text: string, from: number): number {
  TOKEN_START.lastIndex = from;
  return TOKEN_START.exec(text)?.index ?? -1;
}

/** The closing quote of the string that begins at `from`, or -1. Linear in the string's length. */
function stringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (escapes > from && text[escapes - 1] === '\\') escapes -= 1;
    if ((end - escapes) % 2 === 0) return end;
  }
  return -1;
}

/** The decoded JSON string if it differs from its source text. */
export function decodedJson(written: string): string | undefined {
  if (!written.includes('\\')) return undefined;
  try {
    const decoded: unknown = JSON.parse(`"${written}"`);
    return typeof decoded === 'string' ? Buffer.from(decoded, 'utf8').toString('latin1') : undefined;
  } catch {
    return undefined;
  }
}
