import type { Collector } from '../collector.ts';
import { rawOffset, type SpannedText } from '../spanned-text.ts';
import { type ImportFolder, type ImportMap, importName } from './import-folders.ts';
import { decodedJson, type JsonString, jsonStrings } from './json-strings.ts';

/** Only these are URLs; other names are packages to be mapped. */
const URL_SPECIFIER = /^(?:\.{0,2}\/|https?:)/;

/** Reads an import map: target URLs, keys that are URLs, folders with their scopes, and integrity hashes. */
export function extractImportMap(json: SpannedText, collector: Collector): void {
  const guarded = new Map<string, number>();
  const folders: ImportFolder[] = [];
  const names: string[] = [];
  let keyStart = 0;
  for (const entry of jsonStrings(json.text, { withKeys: true })) {
    const { key, keys, from, to, isKey } = entry;
    const section = keys[1];
    if (isKey) keyStart = from - 1;
    else if (section === 'imports' || section === 'scopes') {
      const scope = section === 'imports' ? null : (collector.resolve(keys[2] ?? '') ?? '');
      const written = json.text.slice(from, to);
      const url = collector.resolve(decodedJson(written) ?? written);
      if (!key.endsWith('/')) names.push(importName(scope, key));
      else if (url?.endsWith('/')) folders.push({ scope, prefix: key, address: url, at: rawOffset(json, keyStart) });
    }
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
  if (folders.length === 0) return;
  const map: ImportMap = { folders, names };
  collector.mark(json.start, json.start, 'import-map', JSON.stringify(map));
}

function refer(json: SpannedText, { from, to }: JsonString, collector: Collector): number | undefined {
  const written = json.text.slice(from, to);
  const decoded = decodedJson(written);
  const url = decoded ?? written;
  if (!URL_SPECIFIER.test(url)) return undefined;
  const kind = url.endsWith('/') ? 'folder' : 'asset';
  return collector.refer({ span: json, from, to, layers: 'mq' }, kind, decoded);
}
