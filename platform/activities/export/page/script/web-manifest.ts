import type { Collector } from '../collector.ts';
import type { SpannedText } from '../spanned-text.ts';
import { decodedJson, jsonStrings } from './json-strings.ts';

const IMAGE_LISTS = ['icons', 'screenshots'];

/** A web app manifest: icons and screenshots (also of shortcuts), `start_url` and shortcuts' pages. */
export function extractWebManifest(json: SpannedText, collector: Collector): void {
  for (const { key, keys, from, to } of jsonStrings(json.text)) {
    const isImage = key === 'src' && keys.some((each) => IMAGE_LISTS.includes(each));
    const isPage = (key === 'start_url' && keys.length === 1) || (key === 'url' && keys.includes('shortcuts'));
    if (!isImage && !isPage) continue;
    const decoded = decodedJson(json.text.slice(from, to));
    collector.refer({ span: json, from, to, layers: 'q' }, isImage ? 'asset' : 'page', decoded);
  }
}
