import { type FileHandle, open } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import parseRange from 'range-parser';
import type { BundleFile } from '../../contract/bundle.ts';
import type { ServedSite } from '../site.ts';
import { type FileCache, MAX_CACHED_BYTES } from './file-cache.ts';
import { checkPreconditions } from './preconditions.ts';
import type { Representation, Representations } from './representation.ts';

type FileResponse = {
  req: IncomingMessage;
  res: ServerResponse;
  site: ServedSite;
  file: BundleFile;
  /** 200, or 404 for the not-found page. */
  status: 200 | 404;
};

type FileResponder = {
  cache: FileCache;
  representations(): Representations;
  /** Responds if the file can't be read. */
  fault(error: unknown): void;
};

/**
 * Sends a file of a site, compressed if the client accepts it, with its ETag, ranges and conditional requests. Files up
 * to 4 MiB come from memory, in the same tick if they are there.
 */
export function respondFile({ cache, representations, fault }: FileResponder, response: FileResponse): void {
  const { req, res, site, file, status } = response;
  const { headers } = req;
  const ranged = isRanged(response);
  const chosen = representations().choose(site, file, status, headers['accept-encoding'], ranged);
  const uncompressed = chosen.compress === undefined ? chosen : representations().plain(site, file, status);
  if (isAnsweredByHeaders(response, chosen, uncompressed)) return;
  const cached = cache.get(chosen.file, chosen.compress);
  if (cached !== undefined && cached.encoding === chosen.compress) {
    sendBody(response, chosen, cached.body);
    return;
  }
  // Until the response has ended, so that no swap deletes what is being read.
  const release = site.hold();
  res.once('close', release);
  sendFromDisk().catch(fault);

  async function sendFromDisk(): Promise<void> {
    if (chosen.file.size > MAX_CACHED_BYTES) {
      await sendLargeFile(response, chosen);
      return;
    }
    const { body, encoding } = await cache.load(site, chosen.file, chosen.compress);
    const sent = encoding === chosen.compress ? chosen : uncompressed;
    if (!res.destroyed) sendBody(response, sent, body);
  }
}

/** 304 and 412. */
function isAnsweredByHeaders(
  { req, res, status }: FileResponse,
  chosen: Representation,
  uncompressed: Representation,
): boolean {
  // A client that has the uncompressed bytes has the current ones, too.
  const outcome = checkPreconditions(req.headers, [chosen.etag, uncompressed.etag], status);
  if (outcome === 'send') return false;
  if (outcome === 'failed') {
    res.writeHead(412, { 'Content-Length': 0, 'Cache-Control': 'no-store' }).end();
    return true;
  }
  // The client stores the 304's ETag with its copy, so it must be that of the copy.
  const hasChosen = checkPreconditions(req.headers, [chosen.etag], status) === 'not-modified';
  res.writeHead(304, withoutContent((hasChosen ? chosen : uncompressed).headers)).end();
  return true;
}

const CONTENT_HEADERS = new Set(['Content-Type', 'Content-Encoding', 'Accept-Ranges']);
const notModified = new WeakMap<readonly string[], string[]>();

/** A 304's headers only update those of the client's copy. */
function withoutContent(headers: readonly string[]): string[] {
  const already = notModified.get(headers);
  if (already !== undefined) return already;
  const kept = headers.filter((_, index) => !CONTENT_HEADERS.has(headers[index - (index % 2)] ?? ''));
  notModified.set(headers, kept);
  return kept;
}

function sendBody(response: FileResponse, sent: Representation, body: Buffer): void {
  const { req, res, status } = response;
  const range = isRanged(response) ? requestedRange(req, sent, body.length) : 'all';
  if (range === 'none') {
    sendUnsatisfiable(res, body.length);
    return;
  }
  const part = range === 'all' ? body : body.subarray(range.start, range.end + 1);
  res.writeHead(range === 'all' ? status : 206, headersOf(sent, part.length, range, body.length));
  if (req.method === 'HEAD') res.end();
  else res.end(part);
}

async function sendLargeFile(response: FileResponse, sent: Representation): Promise<void> {
  const { req, res, site, status } = response;
  const { path, size } = sent.file;
  const range = isRanged(response) ? requestedRange(req, sent, size) : 'all';
  if (range === 'none') {
    sendUnsatisfiable(res, size);
    return;
  }
  const { start, end } = range === 'all' ? { start: 0, end: size - 1 } : range;
  // A pipelined request waits for its turn without an open file: one packet can contain thousands.
  if (!(await hasSocket(res))) return;
  const handle = await open(join(site.root, path));
  try {
    res.writeHead(range === 'all' ? status : 206, headersOf(sent, end - start + 1, range, size));
    if (req.method === 'HEAD') res.end();
    else await streamFile(handle, { start, end }, res);
  } finally {
    await handle.close();
  }
}

/** Resolves to true when all earlier responses of the connection have ended, and to false if the connection ends first. */
async function hasSocket(res: ServerResponse): Promise<boolean> {
  if (res.destroyed || res.socket !== null) return !res.destroyed;
  return await new Promise((resolve) => {
    res.once('socket', () => resolve(true));
    res.once('close', () => resolve(false));
  });
}

function isRanged({ req, status }: FileResponse): boolean {
  return status === 200 && req.method === 'GET' && req.headers.range !== undefined;
}

type ByteRange = { start: number; end: number };

/**
 * One range only: the whole file is a valid response to a request for several, which no browser sends. `none`: the range
 * is beyond the end.
 */
function requestedRange(
  { headers }: IncomingMessage,
  { etag }: Representation,
  size: number,
): ByteRange | 'all' | 'none' {
  const { range, 'if-range': ifRange } = headers;
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return 'all';
  // The library finds nothing in a file that is shorter than the suffix, which then means all of it (RFC 9110, 14.1.2).
  const suffix = Number(/^bytes=-(\d+)$/.exec(range)?.[1] ?? 0);
  if (suffix >= size && suffix > 0) return size === 0 ? 'all' : { start: 0, end: size - 1 };
  const ranges = parseRange(size, range, { combine: true });
  if (ranges === -1) return 'none';
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return 'all';
  return ranges[0] ?? 'all';
}

function headersOf(sent: Representation, length: number, range: ByteRange | 'all' | 'none', size: number): string[] {
  const headers = [...sent.headers, 'Content-Length', String(length)];
  if (typeof range === 'object') headers.push('Content-Range', `bytes ${range.start}-${range.end}/${size}`);
  return headers;
}

function sendUnsatisfiable(res: ServerResponse, size: number): void {
  const headers = { 'Content-Range': `bytes */${size}`, 'Content-Length': 0, 'Cache-Control': 'no-store' };
  res.writeHead(416, headers).end();
}

/** The size of one read. A smaller one costs more calls, a larger one more memory for each slow client. */
const READ_BYTES = 256 * 1024;

/** Buffers to use again: the system hands out memory of this size page by page, which costs more than reading a file. */
const idle: Buffer[] = [];
const MAX_IDLE = 64;

/**
 * Sends a part of a file, from the byte `start` to the byte `end`, and ends the response. Reads no faster than the
 * client does, and ends early with the connection.
 */
async function streamFile(
  handle: FileHandle,
  { start, end }: { start: number; end: number },
  res: ServerResponse,
): Promise<void> {
  const buffer = idle.pop() ?? Buffer.allocUnsafeSlow(READ_BYTES);
  for (let position = start; position <= end; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(READ_BYTES, end + 1 - position), position);
    if (bytesRead === 0) throw new Error('a file is shorter than its manifest says');
    position += bytesRead;
    // The buffer of a broken connection isn't used again: the system may still read from it.
    if (!(await write(res, buffer.subarray(0, bytesRead), position > end))) return;
  }
  if (idle.length < MAX_IDLE) idle.push(buffer);
}

/** Resolves to true when the system has taken the bytes, and to false if the connection ends first. */
async function write(res: ServerResponse, bytes: Buffer, isLast: boolean): Promise<boolean> {
  if (res.destroyed) return false;
  return await new Promise((resolve) => {
    const broken = (): void => resolve(false);
    res.once('close', broken);
    const taken = (error?: Error | null): void => {
      res.off('close', broken);
      resolve(error === undefined || error === null);
    };
    if (isLast) res.end(bytes, taken);
    else res.write(bytes, taken);
  });
}
