import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTROL_PATH, type GeneratedSiteChange, type GeneratedSiteOptions, type RequestCounts } from './options.ts';
import { assetsOf, createPageText } from './page-text.ts';
import { share } from './seeded.ts';
import { pageOfPath } from './site-plan.ts';

const MAX_REPEATED = 1_000;
const EPOCH_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 24 * 60 * 60 * 1_000;

type Content = { status: number; contentType: string; body: string; edition: number };

/** The server of a generated site. It generates pages on request and stores none. */
export function createGeneratedSite(options: GeneratedSiteOptions): Server {
  const { pages, seed = 1, pageBytes = 3_000, validators = 'none' } = options;
  const now = {
    delayMs: options.delayMs ?? 0,
    changedShare: options.changedShare ?? 0,
    edition: options.edition ?? 0,
  };
  const counts = new Map<string, number>();
  let notModified = 0;
  const pageText = createPageText({ seed, pages, pageBytes });
  const assets = assetsOf(seed);

  function contentOf(path: string): Content {
    const page = pageOfPath(path, pages);
    const html = { status: 200, contentType: 'text/html; charset=utf-8' };
    if (page !== undefined) {
      const edition = share(seed, page.number, 11) < now.changedShare ? now.edition : 0;
      return { ...html, body: pageText(page, edition), edition };
    }
    const asset = assets.get(path);
    if (asset !== undefined) return { ...asset, status: 200, edition: 0 };
    return { ...html, status: 404, body: '<!doctype html><title>Nothing here</title>', edition: 0 };
  }

  function respond(request: IncomingMessage, response: ServerResponse, path: string): void {
    const { status, contentType, body, edition } = contentOf(path);
    const etag = `"${seed}-${edition}"`;
    const modified = new Date(EPOCH_MS + edition * DAY_MS).toUTCString();
    const sends = {
      etag: validators === 'etag' || validators === 'both',
      modified: validators === 'last-modified' || validators === 'both',
    };
    const headers = { ...(sends.etag && { etag }), ...(sends.modified && { 'last-modified': modified }) };
    const requestHeaders = request.headers;
    const matches =
      requestHeaders['if-none-match'] !== undefined
        ? sends.etag && requestHeaders['if-none-match'] === etag
        : sends.modified && Date.parse(requestHeaders['if-modified-since'] ?? '') >= Date.parse(modified);
    if (status === 200 && matches) {
      notModified += 1;
      response.writeHead(304, headers).end();
      return;
    }
    const length = { 'content-length': Buffer.byteLength(body), 'content-type': contentType };
    response.writeHead(status, { ...length, ...(status === 200 && headers) });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  function control(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method === 'POST') {
        const change: GeneratedSiteChange = JSON.parse(Buffer.concat(chunks).toString('utf8'));
        Object.assign(now, change);
      } else if (request.method === 'DELETE') {
        counts.clear();
        notModified = 0;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(countsOf(counts, notModified)));
    });
  }

  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === CONTROL_PATH) {
      control(request, response);
      return;
    }
    counts.set(path, (counts.get(path) ?? 0) + 1);
    if (now.delayMs === 0) respond(request, response, path);
    else void sleep(now.delayMs).then(() => respond(request, response, path));
  });
  // If the server closed an idle connection while a request arrives, the client would see a failure.
  server.keepAliveTimeout = 120_000;
  return server;
}

function countsOf(counts: ReadonlyMap<string, number>, notModified: number): RequestCounts {
  let requests = 0;
  const repeated: [string, number][] = [];
  for (const [url, count] of counts) {
    requests += count;
    if (count > 1 && repeated.length < MAX_REPEATED) repeated.push([url, count]);
  }
  return {
    requests,
    urls: counts.size,
    notModified,
    repeated: requests - counts.size,
    repeatedUrls: Object.fromEntries(repeated),
  };
}
