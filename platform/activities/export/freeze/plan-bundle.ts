import type { FrozenUrl, SettledRow } from '../../../store/frontier-map.ts';
import { assignPath, NOT_FOUND_PATH } from '../page/assign-path.ts';
import { resolveCollisions } from '../page/resolve-collisions.ts';
import type { Site } from '../page/types.ts';
import { kindOfRank } from '../resource-rank.ts';
import { divideIntoBatches } from './batches.ts';
import { followRedirect } from './follow-redirect.ts';
import type { PieceLimits } from './pieces.ts';
import { isWrongGuess } from './wrong-guess.ts';

export type BundlePlan = { frozen: FrozenUrl[]; batchCount: number; pageCount: number };

type FileRow = SettledRow & { contentType: string; sha256: string };

function isFile(row: SettledRow): row is FileRow {
  return row.outcome === 'file' && row.contentType !== null && row.sha256 !== null && !isWrongGuess(row);
}

function byUrl(a: { url: string }, b: { url: string }): number {
  return a.url < b.url ? -1 : 1;
}

/** The one address that brings each path's file: the lowest, so that every export chooses the same. */
function ownersByPath(files: readonly FileRow[], paths: ReadonlyMap<string, string>): Map<string, FileRow> {
  const owners = new Map<string, FileRow>();
  for (const file of [...files].sort(byUrl)) {
    const path = paths.get(file.url);
    if (path !== undefined && !owners.has(path)) owners.set(path, file);
  }
  return owners;
}

/**
 * Decides where every address of a finished crawl leads and how the bundle's files are divided into batches. Depends
 * only on what the origin answered, not on the order in which it did.
 */
export function planBundle(
  rows: readonly SettledRow[],
  { site, notFoundUrl, ...limits }: PieceLimits & { site: Site; notFoundUrl: string },
): BundlePlan {
  const files = rows.filter(isFile);
  const paths = resolveCollisions(
    files.map(({ url, contentType, rank, sha256 }) => ({
      url,
      // By the strongest use that the whole crawl found: what was known when the file came depends on the order.
      path: assignPath({ url, contentType, kind: kindOfRank(rank) }, site),
      sha256,
      pinned: url === notFoundUrl,
    })),
  );
  const owners = ownersByPath(files, paths);
  const order = [...owners.keys()].sort();
  const inOrder = order.map((path) => ({ path, byteLength: owners.get(path)?.byteLength ?? 0 }));
  const numbers = divideIntoBatches(inOrder, limits);
  const batchOf = new Map(order.map((path, index) => [owners.get(path)?.id, numbers[index] ?? 0]));

  const byAddress = new Map(rows.map((row) => [row.url, row]));
  const settle = (row: SettledRow): FrozenUrl | undefined => {
    const { id, outcome, reason } = row;
    const nothing = { id, outcome, reason, redirectTo: null, path: null, fragment: null, batch: null };
    if (isFile(row)) return { ...nothing, path: paths.get(row.url) ?? null, batch: batchOf.get(id) ?? null };
    if (outcome === 'file') return { ...nothing, outcome: 'missing', reason: 'not there' };
    if (outcome !== 'redirect') return undefined;
    const end = followRedirect(row, byAddress);
    if (end.kind === 'nowhere') return { ...nothing, outcome: 'missing', reason: end.reason };
    if (end.kind === 'outside') return { ...nothing, redirectTo: end.url };
    const redirectTo = `${end.row.url}${end.fragment ?? ''}`;
    if (!isFile(end.row)) {
      return { ...nothing, outcome: 'missing', reason: `redirects to ${redirectTo}: ${end.row.reason ?? 'not there'}` };
    }
    return { ...nothing, redirectTo, path: paths.get(end.row.url) ?? null, fragment: end.fragment };
  };

  const isCounted = ([path, row]: readonly [string, FileRow]): boolean => row.isPage && path !== NOT_FOUND_PATH;
  return {
    frozen: rows.flatMap((row) => settle(row) ?? []),
    batchCount: (numbers.at(-1) ?? -1) + 1,
    pageCount: [...owners].filter(isCounted).length,
  };
}
