import type { FrameworkAdapter } from './adapter.ts';
import { webpackChunks } from './webpack-chunks.ts';

/** Docusaurus: every route is a webpack chunk that only the runtime's tables name. */
export const docusaurus: FrameworkAdapter = {
  name: 'docusaurus',
  startsByClassicScripts: true,
  detect: (html) => html.includes('content="Docusaurus') || html.includes('id="__docusaurus"'),
  discover: () => [],
  discoverInScript: (url, script) => (/\/runtime~main\.[\w-]+\.js$/.test(url) ? webpackChunks(url, script) : []),
  patch: () => [],
};
