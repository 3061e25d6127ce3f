import type { Resource } from './identity.ts';

/** Where a site has its pages in Markdown: `/a.md` for `/a` or `/a.html`; `/a.md` for `/a/`; `/a.html.md`. */
export const TWIN_FORMS = ['index', 'sibling', 'appended'] as const;
export type TwinForm = (typeof TWIN_FORMS)[number];

/** The URL of a page's twin. */
export function twinUrl(page: string, form: TwinForm): string {
  const [url = ''] = page.split('?');
  const isFolder = url.endsWith('/');
  if (form === 'appended') return `${url}${isFolder ? 'index.html' : ''}.md`;
  if (/\.x?html?$/i.test(url)) return url.replace(/\.x?html?$/i, '.md');
  if (!isFolder) return `${url}.md`;
  const isRoot = new URL(url).pathname === '/';
  return form === 'index' || isRoot ? `${url}index.md` : `${url.slice(0, -1)}.md`;
}

/** The page's twin, if the site has twins: what the page refers to without naming it. */
export function twinOf(page: string, form: TwinForm | null | undefined): Resource[] {
  return form === undefined || form === null ? [] : [{ url: twinUrl(page, form), kind: 'probe' }];
}
