import type { SettledRow } from '../crawl-records.ts';

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
    const target = targetOf(row.redirectTo);
    const next = rows.get(target);
    if (next === undefined || next.outcome === 'skipped') return { kind: 'outside', url: target + (fragment ?? '') };
    row = next;
  }
  return { kind: 'nowhere', reason: `more than ${MAX_HOPS} redirects one after another` };
}

/** The URL of a redirect's location, without its fragment. */
export function targetOf(location: string): string {
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
    if (outcome === 'redirect' && redirectTo !== null) wanted.add(targetOf(redirectTo));
  }
  const targets = new Map<string, SettledRow>();
  for (const row of rows) if (wanted.has(row.url)) targets.set(row.url, row);
  return targets;
}
