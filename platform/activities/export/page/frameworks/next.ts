import type { FrameworkAdapter, Mention } from './adapter.ts';

const ASSET_PREFIX = /(?:src|href)="([^"]*?\/_next\/)static\//;
const BUILD_ID = /"buildId":"([^"]+)"/;
const BUILD_MANIFEST = /\/_next\/static\/[^/]+\/_buildManifest\.js$/;
const CHUNK = /"(static\/[^"]+\.(?:js|css))"/g;

/** Next.js, pages and app router: page data, and the chunks that the build manifest names. */
export const next: FrameworkAdapter = {
  name: 'next',
  startsByClassicScripts: true,
  detect: (html) => html.includes('id="__NEXT_DATA__"') || html.includes('self.__next_f'),

  discover({ html, url }) {
    const [, prefix] = ASSET_PREFIX.exec(html) ?? [];
    const [, buildId] = BUILD_ID.exec(html) ?? [];
    const path = new URL(url).pathname.replace(/\.html$|\/$/, '') || '/index';
    const appData: Mention = { url: `${path}.txt`, kind: 'probe' };
    if (prefix === undefined || buildId === undefined || !html.includes('__NEXT_DATA__')) return [appData];
    return [{ url: `${prefix}data/${buildId}${path}.json`, kind: 'probe' }];
  },

  discoverInScript(url, script) {
    if (!BUILD_MANIFEST.test(url)) return [];
    return [...script.matchAll(CHUNK)].map(([, chunk = '']) => ({ url: `../../${chunk}`, kind: 'probe' }));
  },
  patch: () => [],
};
