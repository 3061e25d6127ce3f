/** A site: `domain` is its public name, `origin` the server it is fetched from (scheme, host, port). */
export type Site = {
  /** A DNS name, such as `docs.example.com`; public URLs are `https://{domain}/…`. */
  domain: string;
  /** Such as `http://127.0.0.1:8080`; `https://{domain}` by default. */
  origin: string;
  /** Where the export will be mounted below the domain, such as `/docs`; the root if it is missing. */
  basePath?: string;
};

/**
 * What a reference is for.
 *
 * | kind | fetched | written |
 * |---|---|---|
 * | `page` | on the site | relative if in the bundle, else absolute |
 * | `unfollowed` | as `page`, with `robots: ignore` only (a link with nofollow) | as `page` |
 * | `asset` | on any host (`external: keep`: on the site) | relative; absolute if another host doesn't have it |
 * | `source-map` | as `asset`, with `sourceMaps: keep` only | as `asset`, or removed with its comment |
 * | `folder` | no: a URL prefix that ends in `/` | relative on the site, else absolute |
 * | `probe` | on the site, if it exists (a guess from script text) | relative if in the bundle, else unchanged |
 * | `guess` | on the site, if it exists and the crawl rules allow it (any value that may be the URL of a file) | relative if a file in the bundle that isn't a page, else unchanged |
 * | `identity` | on the site | absolute on the public domain, without a suffix of ours (canonical, `og:url`) |
 * | `card` | on the site | absolute on the public domain (`og:image`: read by external services) |
 * | `endpoint` | no | relative if in the bundle, else absolute (POST forms, `cite`, pingback) |
 */
export type ResourceKind =
  | 'page'
  | 'unfollowed'
  | 'asset'
  | 'source-map'
  | 'folder'
  | 'probe'
  | 'guess'
  | 'identity'
  | 'card'
  | 'endpoint';

/**
 * A URL that a document refers to. `url` is normalized (`normalizeUrl`), without a fragment. `charset`: of a text that
 * declares none, if it isn't UTF-8.
 */
export type Resource = { url: string; kind: ResourceKind; charset?: string };

/** Whether files of other hosts are fetched, or stay links. */
export type ExternalPolicy = 'bundle' | 'keep';
