import type { FrameworkName, ResourceKind } from '../types.ts';

/** An HTML page under examination: `html` is one character a byte, `url` its normalised address. */
export type FrameworkPage = { html: string; url: string };

/** An address a framework loads at run time; relative to the page or script it was found in. */
export type Mention = { url: string; kind: ResourceKind };

/** What the export must know of one framework that hydrates its pages. */
export type FrameworkAdapter = {
  name: FrameworkName;
  /** Whether the markup is this framework's. */
  detect(html: string): boolean;
  /** Whether async and deferred classic scripts start the page too (module scripts always do). */
  startsByClassicScripts: boolean;
  /** What the page's own scripts will load though no markup names it. */
  discover(page: FrameworkPage): Mention[];
  /** The same for one of the framework's script files. */
  discoverInScript(url: string, script: string): Mention[];
};
