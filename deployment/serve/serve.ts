import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { resolveRequest } from '../../bundle/resolve-request.ts';
import { decodePath, encodeLocation } from '../../bundle/url.ts';
import type { BundleFile } from '../../contract/bundle.ts';
import { isHashed } from '../../contract/response-headers.ts';
import type { ServedSite } from '../site.ts';
import type { AccessLog } from './access-log.ts';
import type { BasicAuth } from './basic-auth.ts';
import { chooseTwin } from './choose-twin.ts';
import type { FileCache } from './file-cache.ts';
import type { Fields, HeaderPolicy } from './header-policy.ts';
import { MESSAGE_PAGE_HEADERS, type MessagePage, renderMessagePage } from './message-page.ts';
import type { Representations } from './representation.ts';
import { requestTarget } from './request-target.ts';
import { respondFile } from './respond-file.ts';

/** Responds to a request below `/-/`. */
export type Endpoints = (req: IncomingMessage, res: ServerResponse, url: string) => void;

type ServeDeps = {
  /** Where the site begins: empty, or `/docs`. */
  basePath: string;
  /** Whether the values file switched static export off. */
  isOff(): boolean;
  site(): ServedSite | undefined;
  /** Older versions that a page opened before a swap may still need, newest first. */
  previous(): readonly ServedSite[];
  /** Whether the last swap was so recently that pages of the version before are still open. */
  swappedRecently(): boolean;
  /** The headers of now: the operator may change them at any time. */
  policy(): HeaderPolicy;
  representations(): Representations;
  cache: FileCache;
  endpoints: Endpoints;
  basicAuth: BasicAuth | undefined;
  countResponse(status: number): void;
  accessLog: AccessLog | undefined;
  logger: Logger;
};

type Exchange = { req: IncomingMessage; res: ServerResponse; deps: ServeDeps };

/** Where the endpoints of every deployment are, with and without the base path. */
export const ENDPOINTS_PREFIX = '/-/';

const METHODS = 'GET, HEAD';

const page = (status: number, title: string, text: string): MessagePage => ({ status, title, text });

const OFF = page(503, 'This site is switched off', 'Serving the static export is turned off for this deployment.');
const UNPUBLISHED = page(
  503,
  'This site is not published yet',
  'Its first version is still on the way. Please try again soon.',
);
const MALFORMED = page(400, 'This address is not valid', 'Please check how it is written.');
const MISSING = page(404, 'This page does not exist', 'It may have been moved or removed.');
const WRONG_METHOD = page(405, 'Method not allowed', 'Pages can only be requested with GET or HEAD.');
const UNAUTHORIZED = page(401, 'Please sign in', 'This site needs a user name and a password.');
const UNREADABLE = page(500, 'This page could not be read', 'The server has a problem. Please try again later.');

/** The web server of one deployment: the site below the base path, its endpoints below `/-/`. */
export function createServeHandler(deps: ServeDeps): RequestListener {
  return (req, res) => {
    req.url = requestTarget(req);
    const exchange = { req, res, deps };
    deps.accessLog?.(req, res);
    // Counted at the end, when the status is known; a listener per response is cheaper than one per event.
    res.once('close', () => deps.countResponse(res.headersSent ? res.statusCode : 0));
    try {
      respond(exchange);
    } catch (error) {
      sendFault(exchange, error);
    }
  };
}

function respond(exchange: Exchange): void {
  const { req, res, deps } = exchange;
  const url = withoutBase(req.url ?? '/', deps.basePath);
  if (url?.startsWith(ENDPOINTS_PREFIX)) {
    deps.endpoints(req, res, url);
  } else if (req.method !== 'GET' && req.method !== 'HEAD') {
    sendPage(exchange, WRONG_METHOD, { Allow: METHODS });
  } else if (deps.basicAuth?.allows(req.headers.authorization) === false) {
    sendPage(exchange, UNAUTHORIZED, { 'WWW-Authenticate': deps.basicAuth.challenge });
  } else if (url === undefined) {
    sendPage(exchange, MISSING);
  } else if (url === '') {
    sendRedirect(exchange, '/', 308);
  } else {
    respondFromSite(exchange, url);
  }
}

/** The target below the base path: empty without its slash, undefined outside of it. Endpoints are at the root, too. */
function withoutBase(url: string, basePath: string): string | undefined {
  if (basePath === '' || url.startsWith(ENDPOINTS_PREFIX)) return url;
  if (url.startsWith(`${basePath}/`)) return url.slice(basePath.length);
  return url === basePath || url.startsWith(`${basePath}?`) ? '' : undefined;
}

function respondFromSite(exchange: Exchange, url: string): void {
  const { req, res, deps } = exchange;
  if (deps.isOff()) {
    sendPage(exchange, OFF);
    return;
  }
  // Read once, so that a request sees one version even if another is swapped in.
  const site = deps.site();
  if (site === undefined) {
    sendPage(exchange, UNPUBLISHED, { 'Retry-After': '10' });
    return;
  }
  const found = resolveRequest(url, site);
  if (found.kind === 'file') {
    const file = chooseTwin(site, found.file, req.headers.accept);
    respondFile(responderOf(exchange), { req, res, site, file, status: 200 });
  } else if (found.kind === 'redirect')
    sendRedirect(exchange, found.location, found.status, isMounted(found.location, site));
  else if (found.kind === 'malformed') sendPage(exchange, MALFORMED);
  else respondNotFound(exchange, url, site, found.page);
}

function responderOf(exchange: Exchange): Parameters<typeof respondFile>[0] {
  const { cache, representations } = exchange.deps;
  return { cache, representations, fault: (error) => sendFault(exchange, error) };
}

/**
 * A page that was opened before a swap still requests the files of its own version. Files with their hash in the name
 * can safely come from any version on the disk, others from the last one for a while; pages never do.
 */
function respondNotFound(
  exchange: Exchange,
  url: string,
  site: ServedSite,
  page: { file: BundleFile; status: 200 | 404 } | undefined,
): void {
  const { req, res, deps } = exchange;
  const path = decodePath(url.split('?')[0] ?? url).slice(1);
  const [last, ...older] = deps.previous();
  const candidates = isHashed(path) ? [last, ...older] : deps.swappedRecently() ? [last] : [];
  for (const each of candidates) {
    const file = each?.file(path);
    if (each === undefined || file === undefined || isPage(file)) continue;
    respondFile(responderOf(exchange), { req, res, site: each, file, status: 200 });
    return;
  }
  const { file = site.file('404.html'), status = 404 } = page ?? {};
  if (file === undefined) sendPage(exchange, MISSING);
  else respondFile(responderOf(exchange), { req, res, site, file, status });
}

function isPage({ path, contentType }: { path: string; contentType: string }): boolean {
  return path.endsWith('.html') || contentType.startsWith('text/html');
}

/** Whether a redirect names the base path already, because the export was made for it. */
function isMounted(location: string, { manifest: { basePath } }: ServedSite): boolean {
  return basePath !== undefined && (location === basePath || location.startsWith(`${basePath}/`));
}

function sendRedirect({ req, res, deps }: Exchange, location: string, status: number, isMounted = false): void {
  // A browser would take a path that begins with two slashes for another host's URL.
  const path = location.startsWith('//') && deps.basePath === '' ? `/.${location}` : location;
  const target = encodeLocation(path.startsWith('/') && !isMounted ? deps.basePath + path : path);
  const own = { Location: target, 'Cache-Control': 'no-store', 'Content-Length': '0' };
  res.writeHead(status, deps.policy().headers(pathOf(req, deps), own)).end();
}

function sendPage({ req, res, deps }: Exchange, page: MessagePage, headers: Fields = {}): void {
  const body = renderMessagePage(page);
  const own = { ...MESSAGE_PAGE_HEADERS, ...headers, 'Content-Length': String(Buffer.byteLength(body)) };
  res
    .writeHead(page.status, deps.policy().headers(pathOf(req, deps), own))
    .end(req.method === 'HEAD' ? undefined : body);
}

/** The path for header rules, below the base path. */
function pathOf({ url = '/' }: IncomingMessage, { basePath }: ServeDeps): string {
  const target = withoutBase(url, basePath) ?? url;
  return target.split('?')[0] ?? target;
}

function sendFault(exchange: Exchange, error: unknown): void {
  const { res, deps } = exchange;
  deps.logger.error({ err: error }, 'A response failed');
  if (res.headersSent) res.destroy();
  else sendPage(exchange, UNREADABLE);
}
