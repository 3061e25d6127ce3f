import type { FrameworkAdapter } from './adapter.ts';

const BUILD_FOLDER = /(?:src|href)="([^"]*?\/_nuxt\/)/;
const BUILD_ID = /\bbuildId"?:"([\w-]{1,100})"/;

/** Nuxt 3 and 4: each page's payload, and the build metadata that every page except the start page needs. */
export const nuxt: FrameworkAdapter = {
  name: 'nuxt',
  startsByClassicScripts: true,
  detect: (html) => html.includes('id="__nuxt"') || html.includes('window.__NUXT__'),

  discover({ html, url }) {
    const [, folder] = BUILD_FOLDER.exec(html) ?? [];
    if (folder === undefined) return [];
    const [, buildId] = BUILD_ID.exec(html) ?? [];
    const page = new URL(url).pathname.replace(/(?:index)?\.html$|\/$/, '');
    return [
      { url: `${page}/_payload.json`, kind: 'probe' },
      { url: `${folder}builds/latest.json`, kind: 'probe' },
      ...(buildId === undefined ? [] : [{ url: `${folder}builds/meta/${buildId}.json`, kind: 'probe' as const }]),
    ];
  },

  discoverInScript: () => [],
  patch: () => [],
};
