import { z } from 'zod';
import { domainName } from '../contract/admin-api.ts';
import { CONTENT_CODINGS } from '../contract/content-coding.ts';

/** What an operator may set for a project. An unknown key is refused, so a typing mistake never becomes a default. */
export const projectSettings = z.strictObject({
  /**
   * Styles, scripts, fonts, images and media from other hosts: `bundle` stores them in the archive, `keep` leaves them
   * as links, a list leaves only those hosts' as links.
   */
  external: z
    .union([z.enum(['bundle', 'keep']), z.array(domainName).min(1).max(100)], {
      error: 'expected bundle, keep or a list of hosts to keep as links',
    })
    .default('bundle'),
  /** `auto` starts a hydrating site's scripts only where the page stands at its original path (design 12). */
  scripts: z.enum(['auto', 'keep', 'strip']).default('auto'),
  /** Source maps of scripts and styles: `omit` leaves them out with the comments that name them. */
  sourceMaps: z.enum(['omit', 'keep'], { error: 'expected omit or keep' }).default('omit'),
  /** `ignore` lifts robots.txt with its Crawl-delay, and nofollow, for a site whose owner wants all of it. */
  robots: z.enum(['respect', 'ignore'], { error: 'expected respect or ignore' }).default('respect'),
  /** How pages are read: as the origin answers them, or as a browser shows them once their scripts have run. */
  render: z.enum(['http', 'browser'], { error: 'expected http or browser' }).default('http'),
  /** What finds the files that scripts load: reading the scripts, or also a browser's visit of sample pages. */
  discover: z.enum(['http', 'browser'], { error: 'expected http or browser' }).default('http'),
  /** Whether an export takes over what hasn't changed since the project's last one; `false` fetches and makes all anew. */
  incremental: z.boolean({ error: 'expected true or false' }).default(true),
  /** Content codings that the bundle also holds its text in, for a server that sends files as they are. */
  precompress: z
    .array(z.enum(CONTENT_CODINGS, { error: 'expected br, gzip or zstd' }))
    .max(10)
    .default([]),
  /** Where the embedded forge reports pull request events. */
  webhookUrl: z
    .url({ protocol: /^https?$/, error: 'expected an http(s) address' })
    .nullable()
    .default(null),
  webhookSecret: z.string().min(1).max(1000).nullable().default(null),
});
export type ProjectSettings = z.infer<typeof projectSettings>;

/** The settings with what a change names; a key that is absent or undefined in it stays. */
export function mergeSettings(
  before: Partial<ProjectSettings>,
  change: { [Name in keyof ProjectSettings]?: ProjectSettings[Name] | undefined } | undefined,
): ProjectSettings {
  const named = Object.entries(change ?? {}).filter(([, value]) => value !== undefined);
  return projectSettings.parse({ ...before, ...Object.fromEntries(named) });
}
