import type { FrameworkAdapter } from './adapter.ts';

/** Astro: islands and view transitions. The markup refers to every script, so there is nothing to discover. */
export const astro: FrameworkAdapter = {
  name: 'astro',
  startsByClassicScripts: false,
  detect: (html) => html.includes('<astro-island') || html.includes('content="Astro v'),
  discover: () => [],
  discoverInScript: () => [],
  patch: () => [],
};
