import { basename } from 'node:path';
import { createContentLoader } from 'vitepress';

type Source = { name: string; system: string; keys: string[] };

declare const data: Source[];

export { data };

/** The table of webhook sources, from the front matter of their pages. A test compares it with the sources themselves. */
export default createContentLoader('sources/*.md', {
  transform: (pages): Source[] =>
    pages
      .filter(({ frontmatter }) => frontmatter.system !== undefined)
      .map(({ url, frontmatter: { system, keys } }) => ({ name: basename(url, '.html'), system, keys })),
});
