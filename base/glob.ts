/** Stands for any number of items. */
const GAP = null;
/** Stands for one character. */
const ANY = Symbol('any');

/** The characters of a name between slashes; a name without wildcards is text. */
type Name = string | readonly (string | typeof ANY | typeof GAP)[];

/**
 * A pattern of paths: `*` matches any characters but `/`, `?` one of them, and `**` between slashes any number of
 * folders. A backslash makes the next character literal. A last `*` also matches a path with a slash at its end.
 * Time is at most proportional to the pattern's length times the path's. Regular expressions of globs backtrack: a few
 * stars and a long path take them hours.
 */
export function createGlob(pattern: string): (path: string) => boolean {
  const names = pattern.split('/').map((name) => (name === '**' ? GAP : readName(name)));
  const ignoresLastSlash = pattern.endsWith('*');
  return (path) => {
    const text = ignoresLastSlash && path.endsWith('/') ? path.slice(0, -1) : path;
    return matchesParts(names, text.split('/'), matchesName);
  };
}

function readName(text: string): Name {
  if (!/[*?\\]/.test(text)) return text;
  const parts = (text.match(/\\.|./gsu) ?? []).map((each) => {
    if (each === '*') return GAP;
    return each === '?' ? ANY : each.slice(each.length > 1 && each.startsWith('\\') ? 1 : 0);
  });
  // A name is never empty.
  return parts.every((part) => part === GAP) ? [ANY, GAP] : parts;
}

function matchesName(name: Name, text: string): boolean {
  if (typeof name === 'string') return name === text;
  return matchesParts(name, [...text], (part, character) => part === ANY || part === character);
}

/** After a mismatch, only the last gap grows: what an earlier one could skip, the last one can skip too. */
function matchesParts<Each, Item>(
  parts: readonly (Each | typeof GAP)[],
  items: readonly Item[],
  matches: (part: Each, item: Item) => boolean,
): boolean {
  let [at, from] = [0, 0];
  let gap: { at: number; from: number } | undefined;
  while (from < items.length) {
    const [part, item] = [parts[at], items[from]];
    if (part === GAP) {
      gap = { at, from };
      at += 1;
    } else if (part !== undefined && item !== undefined && matches(part, item)) {
      at += 1;
      from += 1;
    } else if (gap !== undefined) {
      gap.from += 1;
      at = gap.at + 1;
      from = gap.from;
    } else return false;
  }
  return parts.slice(at).every((part) => part === GAP);
}
