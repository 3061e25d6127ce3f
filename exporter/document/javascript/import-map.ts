import type { Collector } from '../collector.ts';
import { rawOffset, type SpannedText } from '../spanned-text.ts';
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

/**
 * A folder of an import map: specifiers that begin with `prefix` resolve below `address`; both end in `/`. `at` is the
 * byte offset of the entry in the document. `scope` is the URL of the modules it applies to, or null for all.
 */
export type ImportFolder = { scope: string | null; prefix: string; address: string; at: number };

/** An import map with folders. `names` are the specifiers with an entry of their own (`importName`). */
export type ImportMap = { folders: ImportFolder[]; names: string[] };

/** The key of an exact entry, in a scope or (null) for all modules. */
function importName(scope: string | null, specifier: string): string {
  return `${scope ?? ''} ${specifier}`;
}

/** Finds the folder entry for a bare specifier in the module at `referrer`, if any. */
type FindFolder = (specifier: string, referrer: string) => ImportFolder | undefined;

/**
 * Looks up specifiers as browsers do: the most specific scope first, and in it exact entries before the longest
 * prefix. Undefined also if an exact entry matches.
 */
export function folderFinder({ folders, names }: ImportMap): FindFolder {
  const own = new Set(names);
  const byScope = new Map<string | null, Map<string, ImportFolder>>([[null, new Map()]]);
  for (const folder of folders) {
    const inScope = byScope.get(folder.scope) ?? new Map<string, ImportFolder>();
    byScope.set(folder.scope, inScope.set(folder.prefix, folder));
  }
  const scopes = [...byScope.keys()].filter((scope) => scope !== null).sort((one, other) => other.length - one.length);

  return (specifier, referrer) => {
    const holding = scopes.filter((scope) => scope === referrer || (scope.endsWith('/') && referrer.startsWith(scope)));
    for (const scope of [...holding, null]) {
      if (own.has(importName(scope, specifier))) return undefined;
      for (let end = specifier.lastIndexOf('/'); end >= 0; end = specifier.lastIndexOf('/', end - 1)) {
        const folder = byScope.get(scope)?.get(specifier.slice(0, end + 1));
        if (folder !== undefined) return folder;
        if (end === 0) break;
      }
    }
    return undefined;
  };
}
