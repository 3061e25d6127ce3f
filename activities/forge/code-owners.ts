import ignore from 'ignore';

/**
 * CODEOWNERS as GitHub reads it: patterns like those of .gitignore, the last one that matches a file decides, and one
 * without owners leaves its files to nobody. A line that GitHub would skip is skipped here too.
 */

export type CodeOwners = {
  /** Logins without their "@". */
  logins: string[];
  /** Names of teams, without the organization. */
  teams: string[];
  mails: string[];
};

type Owner = { kind: 'login' | 'team' | 'mail'; name: string };

export type OwnershipRule = { matches: (path: string) => boolean; owners: readonly Owner[] };

/** GitHub reads no larger file. */
const MAX_CHARACTERS = 3 * 1024 * 1024;

/** Reads the rules of a CODEOWNERS file, in its order. Never throws: what can't be read counts for nothing. */
export function parseCodeOwners(text: string): OwnershipRule[] {
  if (text.length > MAX_CHARACTERS) return [];
  return text.split(/\r\n|\r|\n/).flatMap(readLine);
}

/** Who owns at least one of the paths (from the repository's root), each once, in the order in which they are met. */
export function ownersOf(rules: readonly OwnershipRule[], paths: readonly string[]): CodeOwners {
  const found = new Map<string, Owner>();
  for (const path of paths) {
    // A path that no repository holds is refused by the matcher; it has no owners.
    if (!ignore.isPathValid(path)) continue;
    const decisive = rules.findLast(({ matches }) => matches(path));
    for (const owner of decisive?.owners ?? []) {
      const key = `${owner.kind} ${owner.name.toLowerCase()}`;
      if (!found.has(key)) found.set(key, owner);
    }
  }
  const named = (kind: Owner['kind']): string[] =>
    [...found.values()].filter((owner) => owner.kind === kind).map(({ name }) => name);
  return { logins: named('login'), teams: named('team'), mails: named('mail') };
}

function readLine(line: string): OwnershipRule[] {
  const [pattern, ...words] = wordsOf(line);
  if (pattern === undefined || !isPattern(pattern)) return [];
  const owners = words.map(ownerOf);
  // GitHub skips a line with anything on it that isn't an owner.
  if (!owners.every((owner) => owner !== null)) return [];
  return [{ matches: matcherOf(pattern), owners }];
}

/** The words of a line up to a comment. A space that follows a backslash belongs to the pattern. */
function wordsOf(line: string): string[] {
  const words = line.trim().match(/(?:\\.|[^\s\\]|\\$)+/g) ?? [];
  const comment = words.findIndex((word) => word.startsWith('#'));
  return comment === -1 ? words : words.slice(0, comment);
}

/** Negations, ranges of characters and an escaped "#" mean nothing in CODEOWNERS; "[…]" begins a section of GitLab's. */
function isPattern(word: string): boolean {
  return !/^!|[[\]]|^\\#/.test(word);
}

function matcherOf(pattern: string): (path: string) => boolean {
  const rules = ignore({ ignorecase: false }).add(pattern);
  // In .gitignore `docs/*` takes folders with all that is in them; in CODEOWNERS it takes the files there, and no deeper.
  const deeper = /(^|[^*])\/\*$/.test(pattern) ? ignore({ ignorecase: false }).add(`${pattern}/**`) : undefined;
  return (path) => rules.ignores(path) && deeper?.ignores(path) !== true;
}

function ownerOf(word: string): Owner | null {
  const team = /^@[\w.-]+\/([\w.-]+)$/.exec(word)?.[1];
  if (team !== undefined) return { kind: 'team', name: team };
  const login = /^@([\w.-]+(?:\[bot\])?)$/.exec(word)?.[1];
  if (login !== undefined) return { kind: 'login', name: login };
  return /^[^@\s]+@[^@\s]+$/.test(word) ? { kind: 'mail', name: word } : null;
}
