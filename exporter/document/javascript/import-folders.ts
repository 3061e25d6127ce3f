/**
 * A folder of an import map: specifiers that begin with `prefix` resolve below `address`; both end in `/`. `at` is the
 * byte offset of the entry in the document. `scope` is the URL of the modules it applies to, or null for all.
 */
export type ImportFolder = { scope: string | null; prefix: string; address: string; at: number };

/** An import map with folders. `names` are the specifiers with an entry of their own (`importName`). */
export type ImportMap = { folders: ImportFolder[]; names: string[] };

/** The key of an exact entry, in a scope or (null) for all modules. */
export function importName(scope: string | null, specifier: string): string {
  return `${scope ?? ''} ${specifier}`;
}

/** Finds the folder entry for a bare specifier in the module at `referrer`, if any. */
export type FindFolder = (specifier: string, referrer: string) => ImportFolder | undefined;

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
