import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGlob } from '../../base/glob.ts';

/**
 * CODEOWNERS as GitHub reads it: patterns like those of .gitignore; the last match decides, and a pattern without
 * owners means that its files have none. Lines that GitHub skips are skipped.
 */

export type CodeOwners = {
  /** The owners' logins, without "@". */
  logins: string[];
  /** Team names without the organization. */
  teams: string[];
  mails: string[];
};

type Owner = { kind: 'login' | 'team' | 'mail'; name: string };

type OwnershipRule = { pattern: string; owners: readonly Owner[] };

/** GitHub ignores larger files. */
const MAX_CHARACTERS = 3 * 1024 * 1024;

/** No login, team or mail address is longer. */
const MAX_OWNER = 254;

/** Parses a CODEOWNERS file. Never throws: unreadable lines are skipped. */
export function parseCodeOwners(text: string): OwnershipRule[] {
  if (text.length > MAX_CHARACTERS) return [];
  return text.split(/\r\n|\r|\n/).flatMap(readLine);
}

/** Matching yields to the event loop after this long, so that heartbeats go out. */
const TURN_MS = 20;

/** Thousands of patterns and files take seconds; more than this isn't a real CODEOWNERS file. */
const MAX_MS = 60_000;

/**
 * Owners of at least one of the paths (relative to the repository's root), each once, in the order found. Null if
 * matching takes longer than `maxMs`.
 */
export async function ownersOf(
  rules: readonly OwnershipRule[],
  paths: readonly string[],
  maxMs = MAX_MS,
): Promise<CodeOwners | null> {
  const decisive = await decisiveRules(rules, paths, maxMs);
  if (decisive === null) return null;
  const found = new Map<string, Owner>();
  for (const path of paths) {
    for (const owner of decisive.get(path)?.owners ?? []) {
      const key = `${owner.kind} ${owner.name.toLowerCase()}`;
      if (!found.has(key)) found.set(key, owner);
    }
  }
  const named = (kind: Owner['kind']): string[] =>
    [...found.values()].filter((owner) => owner.kind === kind).map(({ name }) => name);
  return { logins: named('login'), teams: named('team'), mails: named('mail') };
}

/** The last rule that matches each path. Iterates by rule, so that each pattern is parsed once. */
async function decisiveRules(
  rules: readonly OwnershipRule[],
  paths: readonly string[],
  maxMs: number,
): Promise<ReadonlyMap<string, OwnershipRule> | null> {
  const startMs = performance.now();
  let turnMs = startMs;
  const found = new Map<string, OwnershipRule>();
  let open = [...new Set(paths)];
  for (const rule of rules.toReversed()) {
    const matches = matcherOf(rule.pattern);
    const left: string[] = [];
    for (const path of open) {
      if (performance.now() - turnMs > TURN_MS) {
        await nextTurn();
        turnMs = performance.now();
        if (turnMs - startMs > maxMs) return null;
      }
      if (matches(path)) found.set(path, rule);
      else left.push(path);
    }
    open = left;
    if (open.length === 0) break;
  }
  return found;
}

function readLine(line: string): OwnershipRule[] {
  const [pattern, ...words] = wordsOf(line);
  if (pattern === undefined || !isPattern(pattern)) return [];
  const owners = words.map(ownerOf);
  // GitHub skips a line with anything on it that isn't an owner.
  if (!owners.every((owner) => owner !== null)) return [];
  return [{ pattern, owners }];
}

/** The words of a line up to a comment. A space after a backslash belongs to the pattern. */
function wordsOf(line: string): string[] {
  const words = line.trim().match(/(?:\\.|[^\s\\]|\\$)+/g) ?? [];
  const comment = words.findIndex((word) => word.startsWith('#'));
  return comment === -1 ? words : words.slice(0, comment);
}

/** CODEOWNERS has no negation, character ranges or escaped "#"; "[…]" begins a section on GitLab. */
function isPattern(word: string): boolean {
  return !/^!|[[\]]|^\\#/.test(word);
}

/** A matcher of files: a pattern that names a folder matches all files below it. */
function matcherOf(pattern: string): (path: string) => boolean {
  // Only a slash at the beginning or in the middle anchors a pattern to the root.
  const anchored = /^\/|\/./.test(pattern) ? pattern.replace(/^\//, '') : `**/${pattern}`;
  if (anchored.endsWith('/**')) return createGlob(`${anchored}/*`);
  // In .gitignore `docs/*` includes subfolders; in CODEOWNERS it matches only the files directly in `docs`.
  if (pattern.endsWith('/*')) return createGlob(anchored);
  return createGlob(anchored.endsWith('/') ? `${anchored}*/**` : `${anchored}/**`);
}

function ownerOf(word: string): Owner | null {
  if (word.length > MAX_OWNER) return null;
  const team = /^@[\w.-]+\/([\w.-]+)$/.exec(word)?.[1];
  if (team !== undefined) return { kind: 'team', name: team };
  const login = /^@([\w.-]+(?:\[bot\])?)$/.exec(word)?.[1];
  if (login !== undefined) return { kind: 'login', name: login };
  return /^[^@\s]+@[^@\s]+$/.test(word) ? { kind: 'mail', name: word } : null;
}
