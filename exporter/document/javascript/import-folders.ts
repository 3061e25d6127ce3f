/**
 * A folder of an import map: specifiers that begin with `prefix` lead to `address` and the rest. Both end in `/`; `at` is
 * the byte offset of the entry in the document. `scope`: the address of the modules that it holds for; null: all.
 */
export type ImportFolder = { scope: string | null; prefix: string; address: string; at: number };

/** An import map with folders. `names` are the specifiers that it maps one by one (`importName`). */
export type ImportMap = { folders: ImportFolder[]; names: string[] };

/** One text for a specifier that is mapped by itself, in a scope or (null) for all modules. */
export function importName(scope: string | null, specifier: string): string {
  return `${scope ?? ''} ${specifier}`;
}

/** The folder entry that a bare specifier in the module at `referrer` is resolved by; undefined if none is. */
export type FindFolder = (specifier: string, referrer: string) => ImportFolder | undefined;

/**
 * Looks specifiers up as browsers do: in the most specific scope first, and there an entry of its own before the longest
 * prefix. Undefined also where an entry of its own counts.
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
