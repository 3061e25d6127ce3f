import type { IncomingMessage, ServerResponse } from 'node:http';
import { sha256 } from '../deployment/bundles.ts';

export type Exchange = { request: IncomingMessage; response: ServerResponse; body: Buffer; start: number; end: number };

/** Serves bodies by path with ranges and ETags as object stores do, and counts what it sends. */
export class RangeStore {
  readonly bodies = new Map<string, Buffer>();
  /** Sent since the last reset. */
  sentBytes = 0;
  requests = 0;
  offersRanges = true;
  /** Answers a request itself if it returns true. */
  intercept: (exchange: Exchange) => boolean | Promise<boolean> = () => false;

  async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = this.bodies.get(request.url?.split('?')[0] ?? '') ?? Buffer.alloc(0);
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const start = Number(from ?? 0);
    const end = Math.min(body.length, to === undefined || to === '' ? body.length : Number(to) + 1);
    this.requests += 1;
    if (await this.intercept({ request, response, body, start, end })) return;
    const etag = `"${sha256(body)}"`;
    const condition = String(request.headers['if-range'] ?? etag);
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end();
      return;
    }
    const isPart = this.offersRanges && from !== undefined && condition === etag;
    const range = { 'content-range': `bytes ${start}-${end - 1}/${body.length}` };
    const sent = isPart ? body.subarray(start, end) : body;
    this.sentBytes += sent.length;
    response.writeHead(isPart ? 206 : 200, { etag, 'content-length': sent.length, ...(isPart ? range : {}) });
    response.end(sent);
  }
}
