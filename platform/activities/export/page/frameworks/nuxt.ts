import type { FrameworkAdapter } from './adapter.ts';

const BUILD_FOLDER = /(?:src|href)="([^"]*?\/_nuxt\/)/;

/** Nuxt 2 and 3: each page's payload, and the build's metadata. */
export const nuxt: FrameworkAdapter = {
  name: 'nuxt',
  startsByClassicScripts: true,
  detect: (html) => html.includes('id="__nuxt"') || html.includes('window.__NUXT__'),

  discover({ html, url }) {
    const [, folder] = BUILD_FOLDER.exec(html) ?? [];
    if (folder === undefined) return [];
    const page = new URL(url).pathname.replace(/(?:index)?\.html$|\/$/, '');
    return [
      { url: `${page}/_payload.json`, kind: 'probe' },
      { url: `${folder}builds/latest.json`, kind: 'probe' },
    ];
  },

  discoverInScript: () => [],
  patch: () => [],
};
