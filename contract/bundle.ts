import { z } from 'zod';

/** The manifest's path. It is the archive's first file. */
export const MANIFEST_PATH = '.galley/manifest.json';

/** The manifest's signature in a signed bundle: ed25519 over exactly the manifest's bytes, in base64. */
export const SIGNATURE_PATH = '.galley/manifest.sig';

/** The format version that this code writes; readers reject a higher one. */
export const BUNDLE_FORMAT_VERSION = 1;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * The bundle's own description. `files` lists every file but the manifest itself, sorted by path (UTF-16 code unit
 * order) and not its signature; `contentSha256` covers paths and file hashes only, so two exports of an unchanged site
 * are equal in it.
 */
export const bundleManifest = z.object({
  formatVersion: z.int().min(1),
  jobId: z.string().min(1),
  domain: z.string().min(1),
  version: z.string().min(1),
  createdAt: z.iso.datetime({ offset: true }),
  contentSha256: sha256,
  pageCount: z.int().min(0),
  /** Where the site will be mounted below its domain; its redirects lead there. Missing: at the root. */
  basePath: z.string().optional(),
  files: z.array(
    z.object({
      path: z.string().min(1),
      size: z.int().min(0),
      sha256,
      contentType: z.string(),
      /** The page's URL at the origin (path and query, encoded) if its path in the bundle differs. */
      url: z
        .string()
        .regex(/^\/(?![/\\])[\x21-\x7e]*$/, 'expected a path with its query, percent-encoded')
        .optional(),
      /** The path of the page's twin in Markdown, for clients that prefer that type (`Accept`). */
      markdown: z.string().optional(),
      /**
       * A precompressed sibling: these bytes are the file at this path without the last extension, in this content
       * coding (`CONTENT_CODINGS`). Not a page or asset of its own.
       */
      encoding: z
        .string()
        .regex(/^[a-z0-9-]+$/, 'expected a content coding')
        .optional(),
      /**
       * The gzip member that holds the file, maybe with others: its first byte, counted from the end of the archive's
       * head (`readHeadLength`), and its size. Missing if the service doesn't give it.
       */
      offset: z.int().min(0).optional(),
      length: z.int().min(1).optional(),
    }),
  ),
  redirects: z.array(z.object({ from: z.string(), to: z.string(), status: z.int() })),
  /**
   * Only in a manifest that was computed, because the bundle has none: what its `_redirects` and `_headers` say. Its job and
   * domain aren't known.
   */
  foreign: z
    .object({
      /** In order. `from` is a pattern. */
      rules: z.array(z.object({ from: z.string(), to: z.string(), status: z.int(), force: z.boolean() })),
      headers: z.array(
        z.object({ from: z.string(), set: z.array(z.tuple([z.string(), z.string()])), unset: z.array(z.string()) }),
      ),
      /** The lines that aren't honored, and why. */
      ignored: z.array(z.string()),
    })
    .optional(),
});
export type BundleManifest = z.infer<typeof bundleManifest>;
export type BundleFile = BundleManifest['files'][number];
export type ForeignRules = NonNullable<BundleManifest['foreign']>;
export type BundleRedirect = BundleManifest['redirects'][number];

/** The text whose SHA-256 is `contentSha256`: one line `sha256  path` per file, in the manifest's order. */
export function contentDigestLine(file: { path: string; sha256: string }): string {
  return `${file.sha256}  ${file.path}\n`;
}
