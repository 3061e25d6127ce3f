import type { Collector } from '../collector.ts';
import type { SpannedText } from '../spanned-text.ts';
import type { ResourceKind } from '../types.ts';
import { decodedJson, jsonStrings } from './json-strings.ts';

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
