import { MAX_YEARS_BACK } from './endless-paths.ts';

/**
 * The rules by which addresses are left out, each with the words that the frontier keeps and the report shows; `#` stands
 * for the rule's bound.
 */
const WORDS = {
  robots: 'robots.txt disallows it',
  nofollow: 'only links with nofollow lead to it',
  paths: 'not among the paths asked for',
  depth: 'more than # links away from the start page',
  folders: 'its path has more than # folders',
  repeats: 'its path repeats itself',
  dates: `its date is more than # years ahead, or ${MAX_YEARS_BACK} back`,
  queries: 'its path has more than # query strings',
  addresses: 'the export holds its most addresses, #',
  length: 'the address is longer than # characters',
} as const;

export type SkipRule = keyof typeof WORDS;

/** The rules' names, as the report has them. */
export const SKIP_RULES: readonly string[] = Object.keys(WORDS);

/** Why an address is left out, in words. */
export function skipReason(rule: SkipRule, bound?: number): string {
  return WORDS[rule].replace('#', String(bound));
}

const RULES: ReadonlyMap<string, string> = new Map(Object.entries(WORDS).map(([rule, words]) => [words, rule]));

/** The rule that words of `skipReason` name; `other` for words of another release. */
export function ruleOfReason(reason: string): string {
  return RULES.get(reason.replace(/\d+/, '#')) ?? 'other';
}
