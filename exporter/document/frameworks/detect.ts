import type { FrameworkName } from '../types.ts';
import type { FrameworkAdapter, Mention, Patch } from './adapter.ts';
import { next } from './next.ts';
import { pagefindInScript } from './pagefind.ts';
import { vitepress } from './vitepress.ts';
import { webpackChunks } from './webpack-chunks.ts';

/** Astro: islands and view transitions. The markup refers to every script, so there is nothing to discover. */
const astro: FrameworkAdapter = {
  name: 'astro',
  startsByClassicScripts: false,
  detect: (html) => html.includes('<astro-island') || html.includes('content="Astro v'),
};

const MARKS = /content="Docusaurus|id="?__docusaurus["\s>]/;
/** The index name in the local search plugin; `{dir}` is empty except for searches of one section. */
const SEARCH_INDEX = /["'`]search-index\{dir\}\.json/;
const SCRIPTS_FOLDER = '/assets/js/';
const BANNER = '__docusaurus-base-url-issue-banner';
const AWAITED = 'DOMContentLoaded';

/** Docusaurus: routes are webpack chunks, so only the search index and a banner need handling. */
const docusaurus: FrameworkAdapter = {
  name: 'docusaurus',
  startsByClassicScripts: true,
  detect: (html) => MARKS.test(html),
  discoverInScript: searchIndex,

  /** The page shows a "did not load properly" banner if its scripts haven't run. In the bundle they wait on purpose. */
  patch(text): Patch[] {
    const banner = text.indexOf(BANNER);
    if (banner < 0) return [];
    const script = text.lastIndexOf('<script', banner);
    const end = text.indexOf('</script', banner);
    const start = text.indexOf(AWAITED, script);
    if (script < 0 || start < 0 || start > end) return [];
    return [{ start, end: start + AWAITED.length, text: 'galley:never' }];
  },
};

function searchIndex(url: string, script: string): Mention[] {
  const folder = url.lastIndexOf(SCRIPTS_FOLDER);
  if (folder < 0 || !SEARCH_INDEX.test(script)) return [];
  return [{ url: `${url.slice(0, folder)}/search-index.json`, kind: 'probe' }];
}

const RUNTIME = /(?:src|href)="([^"]*\/)webpack-runtime-[\w-]+\.js"/;

/** Gatsby: page data as JSON beside the pages. */
const gatsby: FrameworkAdapter = {
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
};

const BUILD_FOLDER = /(?:src|href)="([^"]*?\/_nuxt\/)/;
const BUILD_ID = /\bbuildId"?:"([\w-]{1,100})"/;

/** Nuxt 3 and 4: each page's payload, and the build metadata that every page except the start page needs. */
const nuxt: FrameworkAdapter = {
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
};

const ADAPTERS: readonly FrameworkAdapter[] = [vitepress, next, nuxt, docusaurus, gatsby, astro];

/** Parts of the marks that adapters look for. Pages without any skip the slower detection. */
const HINTS = /__|<astro-island|content="(?:VitePress|Docusaurus|Astro v)/;

/** The framework that hydrates a page, if any. `html` is latin1. */
export function detectFramework(html: string): FrameworkAdapter | undefined {
  if (!HINTS.test(html)) return undefined;
  return ADAPTERS.find((adapter) => adapter.detect(html));
}

export function frameworkByName(name: FrameworkName | null): FrameworkAdapter | undefined {
  return ADAPTERS.find((adapter) => adapter.name === name);
}

/** The files that a script of a framework, bundler or search loads without a reference to them. */
export function discoverInScript(url: string, script: string): Mention[] {
  return [
    ...webpackChunks(url, script),
    ...pagefindInScript(url, script),
    ...ADAPTERS.flatMap((adapter) => adapter.discoverInScript?.(url, script) ?? []),
  ];
}

/** The patches for a framework's script file. */
export function patchScript(script: string): Patch[] {
  return ADAPTERS.flatMap((adapter) => adapter.patch?.(script) ?? []);
}
