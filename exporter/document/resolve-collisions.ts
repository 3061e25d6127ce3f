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
    const { path, key } = freePlace(claim, folders, holders);
    if (!holders.has(key)) holders.set(key, claim);
    paths.set(claim.url, path);
  }
  return paths;
}

/** A path that nothing else stands in the way of, and its key. */
function freePlace(
  claim: PathClaim,
  folders: ReadonlySet<string>,
  holders: ReadonlyMap<string, PathClaim>,
): { path: string; key: string } {
  for (let attempt = 0; ; attempt += 1) {
    const path = attempt === 0 ? claim.path : marked(claim, attempt);
    const key = collisionKey(path);
    const holder = holders.get(key);
    const shares = holder?.path === claim.path && holder.sha256 === claim.sha256 && path === claim.path;
    if ((holder === undefined || shares) && !folders.has(key)) return { path, key };
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

const BEYOND_ASCII = /[^ -~]/;

/** What a file system without case or with one Unicode form makes of a path. */
export function collisionKey(path: string): string {
  // Most paths are plain, and to have Unicode's forms looked through costs ten times the rest.
  return BEYOND_ASCII.test(path) ? path.normalize('NFC').toLowerCase().normalize('NFC') : path.toLowerCase();
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
