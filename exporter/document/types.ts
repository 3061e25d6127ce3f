/**
 * The types of the page engine, all plain data: an `Extraction` is stored as JSON beside its document and read again,
 * possibly by another worker, when the paths are known.
 */

import type { ScriptPolicy, SourceMapPolicy } from '../settings.ts';
import type { ExternalPolicy, Resource, Site } from '../urls/identity.ts';
import type { Anchors } from './anchors.ts';

/**
 * A response. `contentType` is the header as sent (may be empty), `url` the URL after redirects. `inherited`: the charset
 * that the document which loads it gives it, if it declares none.
 */
export type FetchedDocument = { bytes: Uint8Array; contentType: string; url: string; inherited?: string | undefined };

/**
 * The syntax of a document's references; documents of format `other` are not read. `fields` are lines such as those of
 * robots.txt, `urls` a list of URLs.
 */
export type DocumentFormat =
  | 'html'
  | 'css'
  | 'js'
  | 'svg'
  | 'xml'
  | 'manifest'
  | 'feed'
  | 'json'
  | 'yaml'
  | 'dash'
  | 'hls'
  | 'vtt'
  | 'fields'
  | 'urls'
  | 'markdown'
  | 'pagefind'
  | 'next-tree'
  | 'other';

/** A fetched document, ready to store: `bytes` are UTF-8 if it is text. */
export type PageDocument = {
  bytes: Uint8Array;
  contentType: string;
  url: string;
  format: DocumentFormat;
  /** The charset that it had, if that isn't UTF-8. */
  charset?: string | undefined;
  /** `bytes` are compressed with gzip. */
  gzip?: boolean;
  /** The response headers forbid following its links. */
  nofollow?: boolean;
};

/**
 * The position of a reference: `start` to `end` (byte offsets, end exclusive) is the URL without its fragment, which
 * stays unchanged. `resource` is an index into `resources`; `layers` says how to escape (`splice.ts`); `fragment`
 * (with `#`) is set only if the span includes it.
 */
export type Reference = readonly [start: number, end: number, resource: number, layers: string, fragment?: string];

/**
 * A position other than a URL that a policy may change. Its span and its `note`, by kind:
 *
 * | kind | span | note |
 * |---|---|---|
 * | `integrity`, `crossorigin` | attribute with its leading space | index of the resource that the element loads |
 * | `base` | attribute | base for the relative URLs that follow; none if it has no effect |
 * | `ping`, `handler` | attribute | none |
 * | `label` | the name of a charset | index of the resource whose charset it declares; none for the document itself |
 * | `csp` | attribute value | the policy |
 * | `hint` | whole tag | the URL |
 * | `script` | whole element | none |
 * | `module`, `classic` | point after `<script` | `module`; index of the script's resource |
 * | `type` | `type` attribute of a script | none |
 * | `preload`, `font` | attribute value | the rel (`font` for a font) |
 * | `head`, `body-end` | insertion point | none |
 * | `charset` | insertion point for a missing `<meta charset>` | none |
 * | `import-map` | start of the map | an `ImportMap` with folders, as JSON |
 * | `import` | point before the folder's entry | resource index, a space, the specifier |
 * | `property` | start of a URL in a CSS custom property | `elsewhere` if another document may use it and the URL isn't relative, else `here` |
 * | `origin` | address of the origin in a URL | the public one |
 * | `patch` | text of a framework's script or settings | the replacement |
 * | `source-map` | the comment | none |
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
  | 'property'
  | 'origin'
  | 'patch'
  | 'import-map'
  | 'import'
  | 'source-map';

export type FrameworkName = 'vitepress' | 'next' | 'nuxt' | 'docusaurus' | 'gatsby' | 'astro';

/** The references of a document. Compact, because one is stored for every page and asset of an export. */
export type Extraction = {
  format: DocumentFormat;
  /** The document is compressed with gzip; offsets are in the uncompressed one. */
  gzip?: true;
  /** The framework that hydrates the page; null for plain HTML and for other formats. */
  framework: FrameworkName | null;
  /** Distinct by url and kind. Some have no reference, such as probes and files that a framework loads by itself. */
  resources: Resource[];
  /** Ordered by start, never overlapping. */
  references: Reference[];
  /** Ordered by start. */
  marks: Mark[];
  /** Of a page; left out if it has none. */
  anchors?: Anchors;
  /** The index of the resource that is the page in Markdown. */
  twin?: number;
  /** The charset that the document had, if that isn't UTF-8. */
  charset?: string;
  /** Why the end of the document was not read; left out if it was. */
  incomplete?: string;
};

/**
 * The target of a reference once the paths are final: a file of the bundle (`fragment`, with `#`, if a redirect set
 * one), a URL to write as it is, or a resource that the origin doesn't have.
 */
export type Target = { path: string; fragment?: string } | { absolute: string } | { missing: true };

export type RewritePolicy = {
  scripts: ScriptPolicy;
  external: ExternalPolicy;
  sourceMaps: SourceMapPolicy;
  /** Hosts whose files are linked, not bundled. */
  keepHosts?: readonly string[];
  /** Pages load the script that opens the search page. */
  isSearched?: boolean;
};

export type RewriteInput = {
  /** The bytes that the extraction was made from (`PageDocument.bytes`). */
  bytes: Uint8Array;
  extraction: Extraction;
  site: Site;
  /** The document's own URL (normalized) and its path in the bundle. */
  url: string;
  ownPath: string;
  /** Called once per referenced resource; never for `identity`, `card` and `folder`. */
  target: (resource: Resource) => Target;
  policy: RewritePolicy;
};
