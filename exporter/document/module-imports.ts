import { folderFinder, type ImportFolder, type ImportMap } from './javascript/import-folders.ts';
import type { Extraction, Mark, Resource, Site } from './types.ts';
import { normalizeUrl } from './url-identity.ts';

/** What the module at an address imports; empty if it is no module, or can't be had. */
export type ModuleImports = (url: string) => Promise<readonly string[]>;

/** Modules that are read for one page. */
const MAX_MODULES = 2_000;
/** Only these resolve without an import map. */
const ADDRESS = /^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i;

type MappedImport = { folder: ImportFolder; specifier: string; url: string };

/**
 * Adds to a page what its external modules import through the folders of its import map (`three/addons/x.js`). The page
 * is where such a specifier gets its meaning: each becomes an entry of its own in the map, so that the modules stay as
 * they are and work on every page that loads them. Returns the extraction itself if there is nothing to add.
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

/** In the order of the map's entries and of specifiers, whatever the order in which the modules came. */
async function findMappedImports(
  maps: readonly ImportMap[],
  resources: readonly Resource[],
  { site, importsOf }: { site: Site; importsOf: ModuleImports },
): Promise<MappedImport[]> {
  const found = new Map<string, MappedImport>();
  const seen = new Set<string>();
  const finders = maps.map(folderFinder);

  function resolve(specifier: string, referrer: string): string | undefined {
    if (ADDRESS.test(specifier)) return normalizeUrl(specifier, site, referrer);
    for (const findFolder of finders) {
      const folder = findFolder(specifier, referrer);
      const url = folder && normalizeUrl(specifier.slice(folder.prefix.length), site, folder.address);
      // A specifier that climbs out of its folder is an error in browsers.
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
