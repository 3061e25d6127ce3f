import type { Collector } from '../collector.ts';
import type { SpannedText } from '../spanned-text.ts';
import { decodedJson, jsonStrings } from './json-strings.ts';

/** Speculation rules: the pages that a browser may load ahead. Patterns (`href_matches`) match links as they stand. */
export function extractSpeculationRules(json: SpannedText, collector: Collector): void {
  for (const { keys, from, to } of jsonStrings(json.text)) {
    if (keys.at(-1) !== 'urls') continue;
    collector.refer({ span: json, from, to, layers: 'q' }, 'page', decodedJson(json.text.slice(from, to)));
  }
}
