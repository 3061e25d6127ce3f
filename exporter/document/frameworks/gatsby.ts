import type { FrameworkAdapter } from './adapter.ts';

const RUNTIME = /(?:src|href)="([^"]*\/)webpack-runtime-[\w-]+\.js"/;

/** Gatsby: page data as JSON beside the pages. */
export const gatsby: FrameworkAdapter = {
  name: 'gatsby',
  startsByClassicScripts: true,
  detect: (html) => html.includes('id="___gatsby"'),

  discover({ html, url }) {
    const [, prefix = '/'] = RUNTIME.exec(html) ?? [];
    const root = new URL(prefix, url).pathname;
    const path = new URL(url).pathname;
    const page = (path.startsWith(root) ? path.slice(root.length) : path).replace(/index\.html$|\.html$|\/$/g, '');
    return [
      { url: `${prefix}page-data/${page || 'index'}/page-data.json`, kind: 'probe' },
      { url: `${prefix}page-data/app-data.json`, kind: 'probe' },
    ];
  },

  discoverInScript: () => [],
  patch: () => [],
};
