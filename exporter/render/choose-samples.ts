/**
 * Picks one page of each kind. The first path segment and the number of segments identify a kind. The start page comes
 * first, then the kinds with the most pages.
 */
export function chooseSamples(urls: readonly string[], maxCount: number): string[] {
  const kinds = new Map<string, string[]>();
  for (const url of urls) {
    const kind = kindOf(url);
    const known = kinds.get(kind);
    if (known === undefined) kinds.set(kind, [url]);
    else known.push(url);
  }
  const start = kinds.get(START) ?? [];
  kinds.delete(START);
  const others = [...kinds.values()].sort((a, b) => b.length - a.length);
  const firsts = [start, ...others].flatMap(([first]) => first ?? []);
  // Remaining places go to a second page of each kind.
  const seconds = others.flatMap(([, second]) => second ?? []);
  return [...firsts, ...seconds].slice(0, maxCount);
}

const START = '/';

function kindOf(url: string): string {
  const segments = new URL(url).pathname.split('/').filter((segment) => segment !== '');
  if (segments.length === 0) return START;
  return segments.length === 1 ? '1' : `${segments.length} ${segments[0]}`;
}
