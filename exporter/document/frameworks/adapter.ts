import type { ResourceKind } from '../../urls/identity.ts';
import type { FrameworkName } from '../types.ts';

/** An HTML page to inspect: `html` is latin1, `url` its normalized URL. */
export type FrameworkPage = { html: string; url: string };

/** A URL that a framework loads at run time, relative to its page or script. */
export type Mention = { url: string; kind: ResourceKind };

/** A replacement in a page or script (byte offsets) that makes the bundle work on any static host. */
export type Patch = { start: number; end: number; text: string };

/** What the export needs to know about a framework that hydrates its pages. */
export type FrameworkAdapter = {
  name: FrameworkName;
  /** Whether the markup comes from this framework. */
  detect(html: string): boolean;
  /** Whether async and deferred classic scripts start the page too (module scripts always do). */
  startsByClassicScripts: boolean;
  /** The files that the page's scripts load without a reference in the markup. */
  discover?(page: FrameworkPage): Mention[];
  /** The same for one of the framework's script files. */
  discoverInScript?(url: string, script: string): Mention[];
  /** Settings in a page or framework script that must change in a bundle. */
  patch?(text: string): Patch[];
};
