import { rankOf } from '../crawl/resource-rank.ts';

const OTHER_EXTENSION = /\.(?!html?$|xhtml$|php$)[a-z0-9]{1,5}$/i;

/** True if a URL guessed from a script only returned the page that the origin sends for every missing resource. */
export function isWrongGuess(row: { url: string; rank: number; contentType: string | null }): boolean {
  if (row.rank !== rankOf('probe') || !/^\s*text\/html/i.test(row.contentType ?? '')) return false;
  return OTHER_EXTENSION.test(new URL(row.url).pathname);
}
