import type { FrameworkName, ResourceKind } from '../types.ts';

/** An HTML page under examination: `html` is one character a byte, `url` its normalised address. */
export type FrameworkPage = { html: string; url: string };

/** An address a framework loads at run time; relative to the page or script it was found in. */
export type Mention = { url: string; kind: ResourceKind };

/** A stretch of a page or script (byte offsets) whose text must change for the bundle to work on any static host. */
export type Patch = { start: number; end: number; text: string };

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
  /** Settings inside a page or one of the framework's scripts that a bundle needs otherwise. */
  patch(text: string): Patch[];
};
