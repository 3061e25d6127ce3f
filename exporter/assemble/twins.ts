import type { BundleFile } from '../../contract/bundle.ts';
import { mediaType } from '../urls/assign-path.ts';

/** Where a page's twin in Markdown is by convention (llmstxt.org, and what site generators do). */
export function usualTwins(path: string): string[] {
  const base = path.replace(/\.x?html?$/i, '');
  const folder = base.replace(/(?:^|\/)index$/, '');
  return [`${base}.md`, `${path}.md`, ...(folder === base || folder === '' ? [] : [`${folder}.md`])];
}

/** Where Galley puts the twin of a page: the usual path that no other page shares. */
export function madeTwin(path: string): string {
  return `${path}.md`;
}

export function isPageType(contentType: string): boolean {
  return /^(?:text\/html|application\/xhtml\+xml)$/.test(mediaType(contentType));
}

export type Twins = {
  /** Call it with all files before the first `name`. */
  add(files: readonly BundleFile[]): void;
  /** The files, the pages with the path of their twin. */
  name(files: readonly BundleFile[]): BundleFile[];
  isEmpty(): boolean;
};

/** Finds the Markdown twins of pages: those that pages name themselves, and those at the usual paths. */
export function createTwins(): Twins {
  const paths = new Set<string>();

  function named(file: BundleFile): BundleFile {
    const { markdown, ...rest } = file;
    if (!isPageType(file.contentType)) return file;
    const twin = [...(markdown === undefined ? [] : [markdown]), ...usualTwins(file.path)].find((path) =>
      paths.has(path),
    );
    return twin === undefined ? rest : { ...rest, markdown: twin };
  }

  return {
    add(files) {
      for (const { path, contentType, encoding } of files) {
        const isTwin = encoding === undefined && (/markdown$/.test(mediaType(contentType)) || path.endsWith('.md'));
        if (isTwin) paths.add(path);
      }
    },
    isEmpty: () => paths.size === 0,
    name: (files) => (paths.size === 0 ? [...files] : files.map(named)),
  };
}
