import type { CrawlStore } from '../ports.ts';
import type { ExportSettings } from '../settings.ts';

/** The name of a search page; it is in the folder of the start page whose layout it has. */
export const SEARCH_PAGE = '_search.html';

/** Of a bundle for which an index was made; another language of the same folder has its own page. */
export const isMadeSearchPage = (path: string): boolean => /(^|\/)_search(-[^/.]+)?\.html$/.test(path);

/**
 * What an export does about search: nothing; `own`: the site keeps its own, whose index is the file `index`; `taken`: the
 * site has a file of its own where the index would be; `pagefind`: an index is made, and pages load `SHORTCUT_PATH`.
 */
export type SearchPlan =
  | { kind: 'off' }
  | { kind: 'own'; name: string; index: string }
  | { kind: 'taken'; path: string }
  | { kind: 'pagefind' };

/**
 * The static indexes of searches in the text of pages: they work offline. `needs`: another file without which the search
 * doesn't run. Searches in names only (Javadoc, Doxygen, rustdoc) find no text, so they don't count.
 */
const OWN_SEARCHES: ReadonlyArray<{ name: string; index: string; needs?: string }> = [
  { name: 'Pagefind', index: '(^|/)pagefind-entry\\.json$' },
  { name: 'Sphinx', index: '(^|/)searchindex\\.js$', needs: '(^|/)searchtools\\.js$' },
  { name: 'MkDocs', index: '(^|/)search/search_index\\.(json|js)$' },
  { name: 'VitePress', index: '@localsearchindex[^/]*\\.js$' },
  { name: 'Docusaurus', index: '(^|/)(search-index[^/]*|lunr-index[^/]*)\\.json$' },
  { name: 'mdBook', index: '(^|/)searchindex(-[0-9a-f]+)?\\.json$' },
  { name: 'mdBook', index: '(^|/)searchindex(-[0-9a-f]+)?\\.js$', needs: '(^|/)searcher(-[0-9a-f]+)?\\.js$' },
  { name: 'HonKit', index: '(^|/)search_(index|plus_index)\\.json$' },
  { name: 'Just the Docs', index: '(^|/)assets/js/search-data\\.json$' },
  { name: 'Antora', index: '(^|/)search-index\\.js$', needs: '(^|/)(search-ui|lunr[^/]*)\\.js$' },
];
const TAKEN = '^_pagefind(/|$)|(^|/)_search\\.html$';
const ALL = [...OWN_SEARCHES.flatMap(({ index, needs = index }) => [index, needs]), TAKEN].join('|');

/** The plan of a frozen crawl, by the paths of its files: the same in every stage and every worker. */
export async function planSearch(
  store: Pick<CrawlStore, 'pathsMatching'>,
  { jobId, search }: Pick<ExportSettings, 'jobId' | 'search'>,
): Promise<SearchPlan> {
  return search === 'pagefind' ? searchOf(await store.pathsMatching(jobId, ALL)) : { kind: 'off' };
}

/** The plan for files with these paths. */
export function searchOf(paths: readonly string[]): SearchPlan {
  const find = (pattern: string): string | undefined => paths.find((path) => new RegExp(pattern, 'i').test(path));
  for (const { name, index, needs = index } of OWN_SEARCHES) {
    const found = find(index);
    if (found !== undefined && find(needs) !== undefined) return { kind: 'own', name, index: found };
  }
  const taken = find(TAKEN);
  return taken === undefined ? { kind: 'pagefind' } : { kind: 'taken', path: taken };
}
