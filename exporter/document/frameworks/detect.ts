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
    ...ADAPTERS.flatMap((adapter) => adapter.discoverInScript(url, script)),
  ];
}

/** The patches for a framework's script file. */
export function patchScript(script: string): Patch[] {
  return ADAPTERS.flatMap((adapter) => adapter.patch(script));
}
