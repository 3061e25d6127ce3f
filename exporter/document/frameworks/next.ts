import type { FrameworkAdapter, Mention } from './adapter.ts';

const ASSET_PREFIX = /(?:src|href)="([^"]*?\/_next\/)static\//;
const BUILD_ID = /"buildId":"([^"]+)"/;
const OWN_FILES = /^(.*\/_next\/)static\//;
const CHUNK = /["'](static\/[^"'\\]{1,300}\.(?:js|css|wasm))["']/g;

/** Next.js, pages and app router: page data, and chunks that scripts refer to without their folder. */
export const next: FrameworkAdapter = {
  name: 'next',
  startsByClassicScripts: true,
  detect: (html) => html.includes('id="__NEXT_DATA__"') || html.includes('self.__next_f'),

  discover({ html, url }) {
    const { pathname } = new URL(url);
    const page = pathname.replace(/(?<=\/)index\.html$|\.html$/, '');
    if (!html.includes('__NEXT_DATA__')) return appData(page);
    const [, prefix] = ASSET_PREFIX.exec(html) ?? [];
    const [, buildId] = BUILD_ID.exec(html) ?? [];
    if (prefix === undefined || buildId === undefined) return [];
    return [{ url: `${prefix}data/${buildId}${page.replace(/\/$/, '') || '/index'}.json`, kind: 'probe' }];
  },

  discoverInScript(url, script) {
    const [, folder] = OWN_FILES.exec(url) ?? [];
    if (folder === undefined) return [];
    return [...script.matchAll(CHUNK)].map(([, chunk = '']) => ({ url: `${folder}${chunk}`, kind: 'probe' }));
  },
  patch: () => [],
};

/** What the app router requests instead of a page; `index` if the page's URL ends with a slash. */
function appData(page: string): Mention[] {
  const folder = page.replace(/\/$/, '');
  return [
    { url: folder === page && page !== '' ? `${page}.txt` : `${folder}/index.txt`, kind: 'probe' },
    { url: `${folder}/__next._tree.txt`, kind: 'probe' },
  ];
}
