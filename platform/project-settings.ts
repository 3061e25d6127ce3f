import { z } from 'zod';
import { domainName } from '../contract/admin-api.ts';
import { CONTENT_CODINGS } from '../contract/content-coding.ts';
import { proofPages } from '../contract/proof.ts';

/** A project's settings. An unknown key is rejected, so that a typo never means the default. */
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
  /** `auto` starts a hydrating site's scripts only if the page is at its original path. */
  scripts: z.enum(['auto', 'keep', 'strip']).default('auto'),
  /** Source maps of scripts and styles: `omit` leaves them out, including the comments that name them. */
  sourceMaps: z.enum(['omit', 'keep'], { error: 'expected omit or keep' }).default('omit'),
  /** `ignore` ignores robots.txt with its Crawl-delay, and nofollow, for a site whose owner wants everything. */
  robots: z.enum(['respect', 'ignore'], { error: 'expected respect or ignore' }).default('respect'),
  /** How to read pages: the origin's response, or what a browser shows after running their scripts. */
  render: z.enum(['http', 'browser'], { error: 'expected http or browser' }).default('http'),
  /** How to find files that scripts load: by reading the scripts, or also by visiting sample pages in a browser. */
  discover: z.enum(['http', 'browser'], { error: 'expected http or browser' }).default('http'),
  /**
   * Whether an export reuses what hasn't changed since the project's last one; `false` fetches and renders everything.
   */
  incremental: z.boolean({ error: 'expected true or false' }).default(true),
  /** Content codings in which the bundle also stores its text, for servers that send files unchanged. */
  precompress: z
    .array(z.enum(CONTENT_CODINGS, { error: 'expected br, gzip or zstd' }))
    .max(10)
    .default([]),
  /** Where exports are mounted below the domain; `''`: at its root. */
  basePath: z
    .string()
    .max(200)
    .regex(/^(?:\/[A-Za-z0-9._~-]+)*$/, 'expected a path such as /docs, or nothing')
    .refine((path) => !/\/\.{1,2}(?:\/|$)/.test(path), 'expected a path without . and ..')
    .default(''),
  /** `pagefind`: the bundle gets an index and a search page, unless the site has an offline search of its own. */
  search: z.enum(['off', 'pagefind'], { error: 'expected off or pagefind' }).default('off'),
  /** Patterns of the files that agents may change; null: all but CI files and new executables. */
  agentPaths: z
    .array(
      z
        .string()
        .max(200)
        .regex(/^(?!\/)\P{C}+$/u, 'expected a pattern such as docs/**'),
    )
    .min(1)
    .max(100)
    .nullable()
    .default(null),
  /** `on`: pages get a twin in Markdown, unless the origin has one. */
  markdown: z.enum(['keep', 'on'], { error: 'expected keep or on' }).default('keep'),
  /** Pages of each bundle that the worker compares with the origin in a browser; 0: none. */
  prove: proofPages.default(0),
  /** The receiver of the embedded forge's pull request events. */
  webhookUrl: z
    .url({ protocol: /^https?$/, error: 'expected an http(s) URL' })
    .nullable()
    .default(null),
  webhookSecret: z.string().min(1).max(1000).nullable().default(null),
});
export type ProjectSettings = z.infer<typeof projectSettings>;

/** The settings with the given changes; absent or undefined keys stay. */
export function mergeSettings(
  before: Partial<ProjectSettings>,
  change: { [Name in keyof ProjectSettings]?: ProjectSettings[Name] | undefined } | undefined,
): ProjectSettings {
  const named = Object.entries(change ?? {}).filter(([, value]) => value !== undefined);
  return projectSettings.parse({ ...before, ...Object.fromEntries(named) });
}
