import { folderFinder, type ImportFolder, type ImportMap } from './javascript/import-map.ts';
import type { Extraction, Mark, Resource, Site } from './types.ts';
import { normalizeUrl } from './url-identity.ts';

/** The imports of the module at a URL; empty if it isn't a module or can't be fetched. */
export type ModuleImports = (url: string) => Promise<readonly string[]>;

/** The most modules to read per page. */
const MAX_MODULES = 2_000;
/** Other specifiers need an import map. */
const URL_SPECIFIER = /^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i;

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
    if (URL_SPECIFIER.test(specifier)) return normalizeUrl(specifier, site, referrer);
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
