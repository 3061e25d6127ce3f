/** A language of the site, with how many pages it has and its search page in the bundle. */
export type SearchLanguage = { language: string; pageCount: number; page: string };

/**
 * The work of the process that makes a search: its pages one by one, then all its files in a folder, at their paths in the
 * bundle.
 */
export type IndexWork = {
  job: { page: { path: string; html: string } } | { finish: { folder: string } };
  result: { isAdded: true } | { languages: SearchLanguage[] };
  notice: never;
};
