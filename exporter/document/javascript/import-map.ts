import type { Resource, Site } from '../../urls/identity.ts';
import { normalizeUrl } from '../../urls/identity.ts';
import type { Collector } from '../collector.ts';
import { rawOffset, type SpannedText } from '../spanned-text.ts';
import type { Extraction, Mark } from '../types.ts';
import { decodedJson, type JsonString, jsonStrings } from './json.ts';

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
type ImportFolder = { scope: string | null; prefix: string; address: string; at: number };

/** An import map with folders. `names` are the specifiers with an entry of their own (`importName`). */
type ImportMap = { folders: ImportFolder[]; names: string[] };

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
function folderFinder({ folders, names }: ImportMap): FindFolder {
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

/** The imports of the module at a URL; empty if it isn't a module or can't be fetched. */
export type ModuleImports = (url: string) => Promise<readonly string[]>;

/** The most modules to read per page. */
const MAX_MODULES = 2_000;
/** Other specifiers need an import map. */
const NEEDS_NO_MAP = /^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i;

type MappedImport = { folder: ImportFolder; specifier: string; url: string };

/**
 * Adds the files that a page's external modules import through folders of its import map (`three/addons/x.js`). Each
 * such specifier gets its own entry in the map, so the modules stay unchanged and work on every page that loads them.
 * Returns the same extraction if there is nothing to add.
 */
export async function addModuleImports(
  extraction: Extraction,
  { site, importsOf }: { site: Site; importsOf: ModuleImports },
): Promise<Extraction> {
  const maps = importMapsOf(extraction);
  if (maps.length === 0) return extraction;
  const found = await findMappedImports(maps, extraction.resources, { site, importsOf });
  if (found.length === 0) return extraction;
  const resources = [...extraction.resources];
  const indexes = new Map(
    resources.flatMap(({ url, kind }, index) => (kind === 'asset' ? [[url, index] as const] : [])),
  );
  const indexOf = (url: string): number => {
    const index = indexes.get(url) ?? resources.push({ url, kind: 'asset' }) - 1;
    indexes.set(url, index);
    return index;
  };
  const marks = found.map(({ folder, specifier, url }): Mark => {
    return [folder.at, folder.at, 'import', `${indexOf(url)} ${specifier}`];
  });
  return { ...extraction, resources, marks: [...extraction.marks, ...marks].sort((a, b) => a[0] - b[0]) };
}

/** The import maps of a page that map folders. */
export function importMapsOf({ marks }: Extraction): ImportMap[] {
  return marks.flatMap(([, , kind, note]) =>
    kind === 'import-map' && typeof note === 'string' ? [JSON.parse(note)] : [],
  );
}

/** Sorted by map entry and specifier, so the result doesn't depend on the order of responses. */
async function findMappedImports(
  maps: readonly ImportMap[],
  resources: readonly Resource[],
  { site, importsOf }: { site: Site; importsOf: ModuleImports },
): Promise<MappedImport[]> {
  const found = new Map<string, MappedImport>();
  const seen = new Set<string>();
  const finders = maps.map(folderFinder);

  function resolve(specifier: string, referrer: string): string | undefined {
    if (NEEDS_NO_MAP.test(specifier)) return normalizeUrl(specifier, site, referrer);
    for (const findFolder of finders) {
      const folder = findFolder(specifier, referrer);
      const url = folder && normalizeUrl(specifier.slice(folder.prefix.length), site, folder.address);
      // Browsers reject a specifier that leaves its folder.
      if (folder === undefined || !url?.startsWith(folder.address)) continue;
      found.set(JSON.stringify([folder.at, specifier]), { folder, specifier, url });
      return url;
    }
    return undefined;
  }

  let next = resources.flatMap(({ url, kind }) =>
    kind === 'asset' && /\.m?js$/.test(new URL(url).pathname) ? [url] : [],
  );
  while (next.length > 0) {
    const modules = next.filter((url) => !seen.has(url)).slice(0, MAX_MODULES - seen.size);
    for (const url of modules) seen.add(url);
    const imports = await Promise.all(
      modules.map(async (url) => (await importsOf(url)).flatMap((specifier) => resolve(specifier, url) ?? [])),
    );
    next = [...new Set(imports.flat())];
  }
  const inOrder = (one: MappedImport, other: MappedImport): number =>
    one.folder.at - other.folder.at || (one.specifier < other.specifier ? -1 : 1);
  return [...found.values()].sort(inOrder);
}
