import { setImmediate } from 'node:timers/promises';
import type { FreezePlan, FrozenUrl, SettledRow } from '../crawl-records.ts';
import { assignPath, NOT_FOUND_PATH } from '../urls/assign-path.ts';
import type { Site } from '../urls/identity.ts';
import { type PathClaim, resolveCollisions } from '../urls/resolve-collisions.ts';
import { isWrongGuess, kindOfRank, rankOf } from '../urls/resource-rank.ts';
import { isExactly, isImpliedBy } from './original-url.ts';
import { divideIntoBatches, type PieceLimits } from './pieces.ts';

type FileRow = SettledRow & { contentType: string; sha256: string };

function isFile(row: SettledRow): row is FileRow {
  return row.outcome === 'file' && row.contentType !== null && row.sha256 !== null && !isWrongGuess(row);
}

/** Marks guesses for which the origin only sent its not-found page, with any status. */
function withoutNotFound(rows: readonly SettledRow[], notFoundUrl: string): readonly SettledRow[] {
  const page = rows.find(({ url }) => url === notFoundUrl);
  if (page?.outcome !== 'file') return rows;
  const isNotFound = ({ rank, sha256, url }: SettledRow): boolean =>
    rank <= rankOf('probe') && sha256 === page.sha256 && url !== notFoundUrl;
  return rows.map((row) => (isNotFound(row) ? { ...row, contentType: null } : row));
}

/**
 * The one URL whose file is used for each path, and that the manifest names: the one that the path doesn't imply, then
 * the lowest, so that every export chooses the same one.
 */
function ownersByPath(
  files: readonly FileRow[],
  paths: ReadonlyMap<string, string>,
  site: Site,
): ReadonlyMap<string, FileRow> {
  const owners = new Map<string, FileRow>();
  for (const file of files) {
    const path = paths.get(file.url);
    if (path === undefined) continue;
    const owner = owners.get(path);
    if (owner === undefined || isBetterOwner(path, file, owner, site)) owners.set(path, file);
  }
  return owners;
}

function isBetterOwner(path: string, file: FileRow, owner: FileRow, site: Site): boolean {
  const [isImplied, isOwnerImplied] = [file, owner].map(({ url }) => isImpliedBy(path, url, site));
  return isImplied === isOwnerImplied ? file.url < owner.url : isOwnerImplied === true;
}

type Division = Pick<FreezePlan, 'batchCount' | 'pageCount'> & { batchOf: ReadonlyMap<number, number> };

/** Maps the row id of each path's file to the number of its batch. */
function divideFiles(
  files: readonly FileRow[],
  paths: ReadonlyMap<string, string>,
  { site, ...limits }: PieceLimits & { site: Site },
): Division {
  const owners = ownersByPath(files, paths, site);
  const order = [...owners.keys()].sort();
  const inOrder = order.map((path) => ({ path, byteLength: owners.get(path)?.byteLength ?? 0 }));
  const numbers = divideIntoBatches(inOrder, limits);
  const batchOf = new Map<number, number>();
  let pageCount = 0;
  for (const [index, path] of order.entries()) {
    const owner = owners.get(path);
    if (owner === undefined) continue;
    batchOf.set(owner.id, numbers[index] ?? 0);
    if (owner.isPage && path !== NOT_FOUND_PATH) pageCount += 1;
  }
  return { batchOf, batchCount: (numbers.at(-1) ?? -1) + 1, pageCount };
}

/** Rows between two pauses: some hundredths of a second. */
const ROWS_AT_A_TIME = 5_000;

/** The paths that the files ask for, before conflicts are resolved. */
async function claimPaths(
  files: readonly FileRow[],
  { site, notFoundUrl }: { site: Site; notFoundUrl: string },
): Promise<PathClaim[]> {
  const claims: PathClaim[] = [];
  for (const { url, contentType, rank, sha256 } of files) {
    // Use the strongest use in the whole crawl: the one known when the file arrived depends on the order.
    const path = assignPath({ url, contentType, kind: kindOfRank(rank) }, site);
    claims.push({ url, path, sha256, ...rightTo(path, url, { site, notFoundUrl }) });
    if (claims.length % ROWS_AT_A_TIME === 0) await setImmediate();
  }
  return claims;
}

/**
 * So a site's own folder `_external` keeps its names, and files of other hosts get others: only links lead to those.
 */
function rightTo(
  path: string,
  url: string,
  { site, notFoundUrl }: { site: Site; notFoundUrl: string },
): Pick<PathClaim, 'right'> {
  if (url === notFoundUrl) return { right: 'pinned' };
  return isExactly(path, url, site) ? { right: 'exact' } : {};
}

type Places = { paths: ReadonlyMap<string, string>; batchOf: ReadonlyMap<number, number> };

function* settleAll(rows: readonly SettledRow[], places: Places): Generator<FrozenUrl> {
  const targets = redirectTargets(rows);
  for (const row of rows) {
    const settled = settle(row, targets, places);
    if (settled !== undefined) yield settled;
  }
}

/** The decision for one URL; undefined if its row needs no change. */
function settle(
  row: SettledRow,
  targets: ReadonlyMap<string, SettledRow>,
  { paths, batchOf }: Places,
): FrozenUrl | undefined {
  const { id, outcome, reason } = row;
  const nothing = { id, outcome, reason, redirectTo: null, path: null, fragment: null, batch: null };
  if (isFile(row)) {
    const path = paths.get(row.url) ?? null;
    const batch = batchOf.get(id) ?? null;
    // Most files reused from the previous export keep their path and batch.
    return batch !== null && batch === row.batch && path === row.path ? undefined : { ...nothing, path, batch };
  }
  if (outcome === 'file') return { ...nothing, outcome: 'missing', reason: 'not there' };
  if (outcome !== 'redirect') return undefined;
  const end = followRedirect(row, targets);
  if (end.kind === 'nowhere') return { ...nothing, outcome: 'missing', reason: end.reason };
  if (end.kind === 'outside') return { ...nothing, redirectTo: end.url };
  const redirectTo = `${end.row.url}${end.fragment ?? ''}`;
  if (!isFile(end.row)) {
    return { ...nothing, outcome: 'missing', reason: `redirects to ${redirectTo}: ${end.row.reason ?? 'not there'}` };
  }
  return { ...nothing, redirectTo, path: paths.get(end.row.url) ?? null, fragment: end.fragment };
}

/**
 * Decides where every URL of a finished crawl leads and how the bundle's files are divided into batches. Depends only
 * on the responses, not on their order. Pauses now and then, because a large site takes seconds, in which the process
 * would send no heartbeat.
 */
export async function planBundle(
  settled: readonly SettledRow[],
  { site, notFoundUrl, ...limits }: PieceLimits & { site: Site; notFoundUrl: string },
): Promise<FreezePlan> {
  const rows = withoutNotFound(settled, notFoundUrl);
  const files = rows.filter(isFile);
  const claims = await claimPaths(files, { site, notFoundUrl });
  const paths = resolveCollisions(claims);
  await setImmediate();
  const { batchOf, ...counts } = divideFiles(files, paths, { site, ...limits });
  return { ...counts, frozen: { [Symbol.iterator]: () => settleAll(rows, { paths, batchOf }) } };
}

/** Where a redirect ends: at a URL of the export, at an external URL, or nowhere. */
type RedirectEnd =
  | { kind: 'row'; row: SettledRow; fragment: string | null }
  | { kind: 'outside'; url: string }
  | { kind: 'nowhere'; reason: string };

const MAX_HOPS = 20;

/**
 * Follows redirects through the settled targets of redirects. The fragment of a later hop replaces an earlier one, as
 * in a browser.
 */
export function followRedirect(from: SettledRow, rows: ReadonlyMap<string, SettledRow>): RedirectEnd {
  let row = from;
  let fragment: string | null = null;
  for (let hops = 0; hops < MAX_HOPS; hops += 1) {
    if (row.outcome !== 'redirect' || row.redirectTo === null) return { kind: 'row', row, fragment };
    const hash = row.redirectTo.indexOf('#');
    if (hash !== -1) fragment = row.redirectTo.slice(hash);
    const target = withoutFragment(row.redirectTo);
    const next = rows.get(target);
    if (next === undefined || next.outcome === 'skipped') return { kind: 'outside', url: target + (fragment ?? '') };
    row = next;
  }
  return { kind: 'nowhere', reason: `more than ${MAX_HOPS} redirects one after another` };
}

/** The URL of a redirect's location, without its fragment. */
function withoutFragment(location: string): string {
  const hash = location.indexOf('#');
  return hash === -1 ? location : location.slice(0, hash);
}

/** The rows that redirects lead to, and those of `others`, by URL: only these few need a lookup. */
export function redirectTargets(
  rows: readonly SettledRow[],
  others: readonly string[] = [],
): ReadonlyMap<string, SettledRow> {
  const wanted = new Set(others);
  for (const { outcome, redirectTo } of rows) {
    if (outcome === 'redirect' && redirectTo !== null) wanted.add(withoutFragment(redirectTo));
  }
  const targets = new Map<string, SettledRow>();
  for (const row of rows) if (wanted.has(row.url)) targets.set(row.url, row);
  return targets;
}
