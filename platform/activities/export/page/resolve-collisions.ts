import { shortHash, withMark } from './assign-path.ts';

/**
 * `sha256` of the stored bytes: two addresses with one path and one content share the file. A `pinned` claim (the
 * not-found page) keeps its path against every other.
 */
export type PathClaim = { url: string; path: string; sha256: string; pinned?: boolean };

/**
 * Settles paths that can't stand beside each other on every file system: equal, equal but for case or Unicode form, or
 * a file where another needs a folder. The claims' order doesn't matter (the lowest address keeps its path); others get
 * a hash of their address in the name. Returns the final path by url.
 */
export function resolveCollisions(claims: readonly PathClaim[]): Map<string, string> {
  const ordered = [...claims].sort(byRank);
  const folders = foldersOf(ordered);
  const holders = new Map<string, PathClaim>();
  const paths = new Map<string, string>();
  for (const claim of ordered) {
    const path = freePath(claim, folders, holders);
    if (!holders.has(collisionKey(path))) holders.set(collisionKey(path), claim);
    paths.set(claim.url, path);
  }
  return paths;
}

function freePath(claim: PathClaim, folders: ReadonlySet<string>, holders: ReadonlyMap<string, PathClaim>): string {
  for (let attempt = 0; ; attempt += 1) {
    const path = attempt === 0 ? claim.path : marked(claim, attempt);
    const holder = holders.get(collisionKey(path));
    const shares = holder?.path === claim.path && holder.sha256 === claim.sha256 && path === claim.path;
    if ((holder === undefined || shares) && !folders.has(collisionKey(path))) return path;
  }
}

function marked({ path, url }: PathClaim, attempt: number): string {
  const slash = path.lastIndexOf('/') + 1;
  return path.slice(0, slash) + withMark(path.slice(slash), shortHash(attempt === 1 ? url : `${attempt} ${url}`));
}

function byRank(a: PathClaim, b: PathClaim): number {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1;
  if (a.url === b.url) return 0;
  return a.url < b.url ? -1 : 1;
}

/** What a file system without case or with one Unicode form makes of a path. */
export function collisionKey(path: string): string {
  return path.normalize('NFC').toLowerCase().normalize('NFC');
}

function foldersOf(claims: readonly PathClaim[]): Set<string> {
  const folders = new Set<string>();
  for (const { path } of claims) {
    let folder = collisionKey(path);
    for (let slash = folder.lastIndexOf('/'); slash !== -1; slash = folder.lastIndexOf('/')) {
      folder = folder.slice(0, slash);
      // Then its own folders are known too.
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}
