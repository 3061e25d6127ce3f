/**
 * The page engine's vocabulary. Everything here is plain data: an `Extraction` is stored as JSON beside the bytes it
 * describes and is read back, possibly by another worker, when the paths are known.
 */

/** A site as the export knows it: `domain` is its public name, `origin` where it is fetched (scheme, host, port). */
export type Site = {
  /** A DNS name, such as `docs.example.com`; public addresses are `https://{domain}/…`. */
  domain: string;
  /** Such as `http://127.0.0.1:8080`; equal to `https://{domain}` where nothing else was set. */
  origin: string;
};

/** What the origin answered. `contentType` is the header as sent (may be empty), `url` the address after redirects. */
export type FetchedDocument = { bytes: Uint8Array; contentType: string; url: string };

/** How a document's references are written; `other` has none that we read. */
export type DocumentFormat =
  | 'html'
  | 'css'
  | 'js'
  | 'svg'
  | 'xml'
  | 'manifest'
  | 'feed'
  | 'pagefind'
  | 'next-tree'
  | 'other';

/** A fetched document made ready: `bytes` are UTF-8 (untouched where they already were) and what must be stored. */
export type PageDocument = {
  bytes: Uint8Array;
  contentType: string;
  url: string;
  format: DocumentFormat;
  /** The answer's headers forbid to follow its links. */
  nofollow?: boolean;
};

/**
 * What a reference is for.
 *
 * | kind | fetched | written |
 * |---|---|---|
 * | `page` | on the site | relative where it is in the bundle, else absolute |
 * | `unfollowed` | as `page`, with `robots: ignore` only (a link with nofollow) | as `page` |
 * | `asset` | on any host (`external: keep`: on the site) | relative; left absolute where another host didn't have it |
 * | `source-map` | as `asset`, with `sourceMaps: keep` only | as `asset`, or gone with the comment that names it |
 * | `folder` | no: what an address begins with, ends in `/` | relative on the site, else absolute |
 * | `probe` | on the site, and counts only if it exists (a guess from script text) | relative where it is in the bundle, else not |
 * | `identity` | on the site | absolute on the public domain, never with a suffix of ours (canonical, `og:url`) |
 * | `card` | on the site | absolute on the public domain (`og:image`: read by machines elsewhere) |
 * | `endpoint` | no | relative where it is in the bundle, else absolute (POST forms, `cite`, pingback) |
 */
export type ResourceKind =
  | 'page'
  | 'unfollowed'
  | 'asset'
  | 'source-map'
  | 'folder'
  | 'probe'
  | 'identity'
  | 'card'
  | 'endpoint';

/** One address a document refers to. `url` is normalised (`normalizeUrl`), without a fragment. */
export type Resource = { url: string; kind: ResourceKind };

/**
 * Where a reference stands in the bytes: `start` to `end` (byte offsets, end exclusive) is the address without its
 * fragment, which stays as it is; `resource` is an index into `resources`; `layers` says how to escape (`escape.ts`);
 * `fragment` (with `#`) only where the span had to cover it.
 */
export type Reference = readonly [start: number, end: number, resource: number, layers: string, fragment?: string];

/**
 * A place that a policy may change, not an address. What `note` holds, by kind:
 * `integrity`, `crossorigin`: index of the resource the element loads (the span is the attribute with its leading space).
 * `base`: the address that relative ones are resolved against from here on, nothing for a base without effect
 * (attribute). `ping`, `handler`: nothing (attribute). `label`: index of the resource whose charset it tells (attribute
 * value). `csp`: the policy (attribute value). `hint`: host (whole tag).
 * `script`: nothing (whole element). `module`, `classic`: the script's type (the point after `<script`), `type`: its type
 * attribute. `preload`, `font`: the rel (attribute value; `font` where it is of a font). `head`, `body-end`: points for insertion. `charset`: a point for a
 * missing `<meta charset>`. `import-map`: an `ImportMap` with folders, as JSON. `import`: index of the resource that a
 * specifier leads to, a space, the specifier (the point before the folder's entry). `patch`: the text a framework's script needs instead. `source-map`: nothing (the comment).
 */
export type Mark = readonly [start: number, end: number, kind: MarkKind, note?: string | number];
export type MarkKind =
  | 'integrity'
  | 'crossorigin'
  | 'base'
  | 'ping'
  | 'label'
  | 'handler'
  | 'csp'
  | 'hint'
  | 'script'
  | 'module'
  | 'classic'
  | 'type'
  | 'preload'
  | 'font'
  | 'head'
  | 'body-end'
  | 'charset'
  | 'patch'
  | 'import-map'
  | 'import'
  | 'source-map';

export type FrameworkName = 'vitepress' | 'next' | 'nuxt' | 'docusaurus' | 'gatsby' | 'astro';

/** What a document refers to. Compact on purpose: one is stored for every page and asset of an export. */
export type Extraction = {
  format: DocumentFormat;
  /** The framework that hydrates the page; null for plain HTML and for anything but HTML. */
  framework: FrameworkName | null;
  /** Distinct by url and kind. Some have no reference: probes, and what a framework loads without naming it. */
  resources: Resource[];
  /** Ordered by start, never overlapping. */
  references: Reference[];
  /** Ordered by start. */
  marks: Mark[];
};

/**
 * Where a reference leads once the paths are frozen: a file of the bundle (`fragment`, with `#`, where a redirect named
 * one), an address to be written as it is, or nothing the origin had.
 */
export type Target = { path: string; fragment?: string } | { absolute: string } | { missing: true };

export type ScriptPolicy = 'auto' | 'keep' | 'strip';
export type ExternalPolicy = 'bundle' | 'keep';
export type SourceMapPolicy = 'omit' | 'keep';

export type RewritePolicy = {
  scripts: ScriptPolicy;
  external: ExternalPolicy;
  sourceMaps: SourceMapPolicy;
  /** Hosts whose files stay links. */
  keepHosts?: readonly string[];
};

export type RewriteInput = {
  /** The bytes the extraction was made from (`PageDocument.bytes`). */
  bytes: Uint8Array;
  extraction: Extraction;
  site: Site;
  /** The document's own address (normalised) and its path in the bundle. */
  url: string;
  ownPath: string;
  /** Asked once for each resource that has a reference; never for `identity`, `card` and `folder`. */
  target: (resource: Resource) => Target;
  policy: RewritePolicy;
};
