import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { assignPath, NOT_FOUND_PATH } from '../../../../platform/activities/export/page/assign-path.ts';
import { readDocument } from '../../../../platform/activities/export/page/document.ts';
import { extract, parseExtraction, serializeExtraction } from '../../../../platform/activities/export/page/extract.ts';
import { resolveCollisions } from '../../../../platform/activities/export/page/resolve-collisions.ts';
import { rewrite } from '../../../../platform/activities/export/page/rewrite.ts';
import type {
  PageDocument,
  Resource,
  ResourceKind,
  RewritePolicy,
  Site,
  Target,
} from '../../../../platform/activities/export/page/types.ts';
import { isOfSite, isWanted } from '../../../../platform/activities/export/page/url-identity.ts';

/** What an origin answers; undefined is 404. */
export type Answer = { bytes: Uint8Array; contentType: string } | { redirect: string } | undefined;
export type Origin = (url: string) => Answer;

export type SimulatedExport = {
  /** The bundle's files by path. */
  files: Map<string, Uint8Array>;
  /** The path of each address; an address that was redirected has its end's. */
  paths: Map<string, string>;
  missing: string[];
};

export const AUTO: RewritePolicy = { scripts: 'auto', external: 'bundle', sourceMaps: 'omit' };
const TYPES: Record<string, string> = {
  ...{ '.html': 'text/html; charset=utf-8', '.css': 'text/css', '.js': 'text/javascript', '.mjs': 'text/javascript' },
  ...{ '.json': 'application/json', '.svg': 'image/svg+xml', '.png': 'image/png', '.woff2': 'font/woff2' },
  ...{ '.webmanifest': 'application/manifest+json', '.xml': 'application/xml', '.txt': 'text/plain' },
};
const STRENGTH: readonly ResourceKind[] = ['asset', 'page', 'card', 'identity', 'probe', 'endpoint'];

/**
 * The export's two phases over the page engine alone: crawl from `/` and `/404.html`, freeze the paths, rewrite. No network, no store;
 * extractions take the way through JSON that they take in the store.
 */
export function simulateExport(site: Site, origin: Origin, policy = AUTO): SimulatedExport {
  const notFoundUrl = `https://${site.domain}/${NOT_FOUND_PATH}`;
  const start = [`https://${site.domain}/`, ...(origin(notFoundUrl) ? [notFoundUrl] : [])];
  const crawl = crawlFrom(
    start.map((url) => ({ url, kind: 'page' })),
    site,
    origin,
    policy,
  );
  const claims = [...crawl.documents].map(([url, document]) => ({
    url,
    path: assignPath({ url, contentType: document.contentType, kind: crawl.kinds.get(url) ?? 'page' }, site),
    sha256: createHash('sha256').update(document.bytes).digest('hex'),
    pinned: url === notFoundUrl,
  }));
  const paths = resolveCollisions(claims);
  for (const [from, to] of crawl.redirects) {
    const path = paths.get(to);
    if (path !== undefined) paths.set(from, path);
  }
  const target = ({ url }: Resource): Target => {
    const path = paths.get(url);
    return path === undefined ? { missing: true } : { path };
  };
  const files = new Map<string, Uint8Array>();
  for (const [url, { document, stored }] of crawl.extractions) {
    const ownPath = paths.get(url) ?? NOT_FOUND_PATH;
    const input = { bytes: document.bytes, extraction: parseExtraction(stored), site, url, ownPath, target, policy };
    files.set(ownPath, rewrite(input));
  }
  return { files, paths, missing: crawl.missing };
}

type Crawl = {
  documents: Map<string, PageDocument>;
  extractions: Map<string, { document: PageDocument; stored: string }>;
  kinds: Map<string, ResourceKind>;
  redirects: Map<string, string>;
  missing: string[];
};

function crawlFrom(start: Resource[], site: Site, origin: Origin, policy: RewritePolicy): Crawl {
  const crawl: Crawl = {
    documents: new Map(),
    extractions: new Map(),
    kinds: new Map(),
    redirects: new Map(),
    missing: [],
  };
  const queue = [...start];
  const seen = new Set<string>();
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { url, kind } = next;
    const known = crawl.kinds.get(url);
    if (known === undefined || STRENGTH.indexOf(kind) < STRENGTH.indexOf(known)) crawl.kinds.set(url, kind);
    if (seen.has(url)) continue;
    seen.add(url);
    const answer = origin(url);
    if (answer === undefined) {
      if (kind !== 'probe') crawl.missing.push(url);
    } else if ('redirect' in answer) {
      crawl.redirects.set(url, answer.redirect);
      queue.push({ url: answer.redirect, kind });
    } else {
      const fetchUrl = isOfSite(url, site) ? site.origin + url.slice(`https://${site.domain}`.length) : url;
      const document = readDocument({ ...answer, url: fetchUrl });
      const extraction = extract(document, site);
      crawl.documents.set(url, document);
      crawl.extractions.set(url, { document, stored: serializeExtraction(extraction) });
      queue.push(...extraction.resources.filter((resource) => isWanted(resource, site, policy.external)));
    }
  }
  return crawl;
}

/** An origin that serves an exported bundle. */
export function bundleOrigin(files: ReadonlyMap<string, Uint8Array>): Origin {
  return (url) => {
    const path = decodeURIComponent(new URL(url).pathname.slice(1)).replace(/(?<=^|\/)$/, 'index.html');
    const bytes = files.get(path);
    return bytes && { bytes, contentType: TYPES[extname(path)] ?? 'application/octet-stream' };
  };
}

/** The bundle's own references, `path → path`, that lead to no file of it. */
export function brokenReferences(files: ReadonlyMap<string, Uint8Array>): string[] {
  const site = { domain: 'bundle.example', origin: 'https://bundle.example' };
  return [...files].flatMap(([path, bytes]) => {
    const url = `https://bundle.example/${path.split('/').map(encodeURIComponent).join('/')}`;
    const document = readDocument({ bytes, contentType: TYPES[extname(path)] ?? '', url });
    const { references, resources } = extract(document, site);
    const used = new Set(references.map(([, , index]) => resources[index]));
    return [...used].flatMap((resource) => {
      if (resource === undefined || resource.kind === 'folder' || !isOfSite(resource.url, site)) return [];
      const target = decodeURIComponent(new URL(resource.url).pathname.slice(1));
      return files.has(target) ? [] : [`${path} → ${target}`];
    });
  });
}
