type StartPage = { path: string; html: string };

/** Sites have some dozens; each holds a page in memory. */
const MAX_LANGUAGES = 100;

/** Remembers the start page of each language: the one that is highest up, an index first. */
export function createStartPages() {
  const pages = new Map<string, StartPage>();
  return {
    /** @param language empty if the page doesn't say it */
    add(language: string, page: StartPage): void {
      const known = pages.get(language);
      if (known === undefined ? pages.size < MAX_LANGUAGES : isHigher(page.path, known.path)) pages.set(language, page);
    },
    /** The start page of one of these languages; the site's main one is also that of pages that don't say theirs. */
    of(language: string, { isMain }: { isMain: boolean }): StartPage | undefined {
      const own = pages.get(language);
      const other = isMain ? pages.get('') : undefined;
      if (own === undefined || other === undefined) return own ?? other;
      return isHigher(other.path, own.path) ? other : own;
    },
  };
}

function isHigher(path: string, other: string): boolean {
  const [a, b] = [rankOf(path), rankOf(other)];
  return a === b ? path < other : a < b;
}

function rankOf(path: string): number {
  const depth = path.split('/').length;
  return 2 * depth + (/(?:^|\/)index\.x?html?$/.test(path) ? 0 : 1);
}
