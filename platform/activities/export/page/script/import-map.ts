import type { Collector } from '../collector.ts';
import type { SpannedText } from '../spanned-text.ts';
import { decodedJson, jsonStrings } from './json-strings.ts';

/** An import map's addresses. Those of folders (`"lib/": "/lib/"`) name no file and stay. */
export function extractImportMap(json: SpannedText, collector: Collector): void {
  for (const { keys, from, to } of jsonStrings(json.text)) {
    const written = json.text.slice(from, to);
    if (!keys.some((key) => key === 'imports' || key === 'scopes') || written.endsWith('/')) continue;
    collector.refer({ span: json, from, to, layers: 'mq' }, 'asset', decodedJson(written));
  }
}
