import type { Collector } from '../collector.ts';
import type { SpannedText } from '../spanned-text.ts';
import { decodedJson, jsonStrings } from './json-strings.ts';

/** Speculation rules: pages that a browser may load in advance. Patterns (`href_matches`) stay unchanged. */
export function extractSpeculationRules(json: SpannedText, collector: Collector): void {
  for (const { keys, from, to } of jsonStrings(json.text)) {
    if (keys.at(-1) !== 'urls') continue;
    collector.refer({ span: json, from, to, layers: 'q' }, 'page', decodedJson(json.text.slice(from, to)));
  }
}
