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
