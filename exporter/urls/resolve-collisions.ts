import { collisionKey } from '../../bundle/path.ts';
import { shortHash, withMark } from './assign-path.ts';

/**
 * `sha256` of the stored bytes: URLs with the same path and content share a file. `right`: who keeps its path. The
 * not-found page always does; before others, a URL of the site that has exactly this path.
 */
export type PathClaim = { url: string; path: string; sha256: string; right?: 'pinned' | 'exact' };

/**
 * Resolves paths that can't coexist on every file system: equal, equal except for case or Unicode form, or a file and
 * a folder of the same name. The one with the better right, then the lowest URL, keeps its path whatever the order
 * of claims; the others get a hash of their URL in the name. Returns the final path by URL.
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

/** A path without a collision, and its key. */
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

const RIGHTS: readonly PathClaim['right'][] = ['pinned', 'exact', undefined];

function byRank(a: PathClaim, b: PathClaim): number {
  if (a.right !== b.right) return RIGHTS.indexOf(a.right) - RIGHTS.indexOf(b.right);
  if (a.url === b.url) return 0;
  return a.url < b.url ? -1 : 1;
}

function foldersOf(claims: readonly PathClaim[]): Set<string> {
  const folders = new Set<string>();
  for (const { path } of claims) {
    let folder = collisionKey(path);
    for (let slash = folder.lastIndexOf('/'); slash !== -1; slash = folder.lastIndexOf('/')) {
      folder = folder.slice(0, slash);
      // Its parent folders have been added before.
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}
