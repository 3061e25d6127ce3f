import { MAX_YEARS_BACK } from './endless-paths.ts';

/**
 * The rules for leaving URLs out, each with its text in the frontier and the report; `#` stands for the limit. Their
 * conditions are in crawl-scope.ts. docs/reference/crawl-rules.md explains them.
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
  addresses: 'the export already has # URLs',
  length: 'the URL is longer than # characters',
} as const;

export type SkipRule = keyof typeof WORDS;

/** The text that says why a URL is skipped. */
export function skipReason(rule: SkipRule, bound?: number): string {
  return WORDS[rule].replace('#', String(bound));
}

const RULES: ReadonlyMap<string, string> = new Map(Object.entries(WORDS).map(([rule, words]) => [words, rule]));

/** The rule of a `skipReason` text; `other` for a text of another release. */
export function ruleOfReason(reason: string): string {
  return RULES.get(reason.replace(/\d+/, '#')) ?? 'other';
}
