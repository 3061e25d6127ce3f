import type { FrameworkName } from '../types.ts';
import type { FrameworkAdapter, Mention, Patch } from './adapter.ts';
import { astro } from './astro.ts';
import { docusaurus } from './docusaurus.ts';
import { gatsby } from './gatsby.ts';
import { next } from './next.ts';
import { nuxt } from './nuxt.ts';
import { pagefindInScript } from './pagefind.ts';
import { vitepress } from './vitepress.ts';
import { webpackChunks } from './webpack-chunks.ts';

const ADAPTERS: readonly FrameworkAdapter[] = [vitepress, next, nuxt, docusaurus, gatsby, astro];

/** Every mark that an adapter looks for holds one of these. Most pages have none, and needn't be searched for each mark. */
const HINTS = ['__', '<astro-island', 'content="VitePress', 'content="Docusaurus', 'content="Astro v'];

/** The framework that hydrates a page, if one does. `html` is one character a byte. */
export function detectFramework(html: string): FrameworkAdapter | undefined {
  if (!HINTS.some((hint) => html.includes(hint))) return undefined;
  return ADAPTERS.find((adapter) => adapter.detect(html));
}

export function frameworkByName(name: FrameworkName | null): FrameworkAdapter | undefined {
  return ADAPTERS.find((adapter) => adapter.name === name);
}

/** What a script file of a framework, a bundler or a search will load though nothing names it. */
export function discoverInScript(url: string, script: string): Mention[] {
  return [
    ...webpackChunks(url, script),
    ...pagefindInScript(url, script),
    ...ADAPTERS.flatMap((adapter) => adapter.discoverInScript(url, script)),
  ];
}

/** What must change in a framework's script file. */
export function patchScript(script: string): Patch[] {
  return ADAPTERS.flatMap((adapter) => adapter.patch(script));
}
