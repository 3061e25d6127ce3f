import type { Collector } from '../collector.ts';
import { rawOffset, type SpannedText } from '../spanned-text.ts';
import { decodedJson, type JsonString, jsonStrings } from './json-strings.ts';

/** Only these are addresses: any other name is a package's, to be mapped. */
const ADDRESS = /^(?:\.{0,2}\/|https?:)/;

/**
 * An import map: the addresses it leads to, those it leads from where they are addresses, the folders of its scopes,
 * and the hashes that guard them.
 */
export function extractImportMap(json: SpannedText, collector: Collector): void {
  const guarded = new Map<string, number>();
  for (const entry of jsonStrings(json.text, { withKeys: true })) {
    const { key, keys, from, to, isKey } = entry;
    const section = keys[1];
    if (section === 'integrity' && !isKey) {
      const resource = guarded.get(key);
      if (resource !== undefined) collector.mark(rawOffset(json, from), rawOffset(json, to), 'integrity', resource);
      continue;
    }
    if (section !== 'imports' && section !== 'scopes' && section !== 'integrity') continue;
    const resource = refer(json, entry, collector);
    if (section === 'integrity' && resource !== undefined) guarded.set(key, resource);
    if (section === 'imports' && !isKey) collector.mapImport(key, json.text.slice(from, to));
  }
}

function refer(json: SpannedText, { from, to }: JsonString, collector: Collector): number | undefined {
  const written = json.text.slice(from, to);
  const decoded = decodedJson(written);
  const address = decoded ?? written;
  if (!ADDRESS.test(address)) return undefined;
  const kind = address.endsWith('/') ? 'folder' : 'asset';
  return collector.refer({ span: json, from, to, layers: 'mq' }, kind, decoded);
}
