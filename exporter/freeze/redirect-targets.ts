import type { SettledRow } from '../crawl-records.ts';

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
