import { pipeline } from 'node:stream/promises';
import type { Express, Request, Response } from 'express';
import { ObjectMissingError } from '../../exporter/export-failure.ts';
import type { ByteRange, ObjectInfo } from '../../exporter/ports.ts';
import { HttpError } from '../../web/http-error.ts';
import { LINK_PATH_PREFIX } from '../objects/link-signer.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import { addRoute } from './add-route.ts';

/** Serves the file store's links; other stores serve their own. */
export function addObjectLinkRoutes(app: Express, objects: ObjectStore): void {
  const { links } = objects;
  if (links === null) return;
  addRoute(app, `${LINK_PATH_PREFIX}*key`, {
    get: async (request, response) => {
      const query = new URLSearchParams(request.url.split('?')[1] ?? '');
      const named = await links.verify(request.path, query);
      if (named === null) throw new HttpError(403, 'The link is invalid or has expired: request a new one');
      const info = await objects.head(named.key);
      if (info === null) throw new HttpError(404, 'The object is no longer there');
      response.type('application/octet-stream');
      if (named.fileName !== null) response.attachment(named.fileName);
      await sendObject({ request, response, objects, key: named.key, info });
    },
  });
}

type Sending = { request: Request; response: Response; objects: ObjectStore; key: string; info: ObjectInfo };

/** Sends an object with its validators: conditional, one range, or whole. */
async function sendObject({ request, response, objects, key, info }: Sending): Promise<void> {
  response
    .set('Accept-Ranges', 'bytes')
    .set('ETag', `"${info.sizeBytes.toString(16)}-${info.modifiedAt.getTime().toString(16)}"`)
    .set('Last-Modified', info.modifiedAt.toUTCString())
    .set('Cache-Control', 'private, no-transform');
  if (isUnchanged(request, response)) {
    response.status(304).end();
    return;
  }
  const range = readRange(request, response, info.sizeBytes);
  const start = range?.start ?? 0;
  const end = range?.end ?? info.sizeBytes - 1;
  if (range) response.status(206).set('Content-Range', `bytes ${start}-${end}/${info.sizeBytes}`);
  response.set('Content-Length', String(end - start + 1));
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  await stream(response, () => objects.get(key, range));
}

/** Express's own `fresh` also evaluates Cache-Control, and fetch sends `no-cache` with every condition. */
function isUnchanged(request: Request, response: Response): boolean {
  const known = request.headers['if-none-match']?.split(',').map((each) => each.trim().replace(/^W\//, ''));
  return known?.some((each) => each === '*' || each === response.get('ETag')) ?? false;
}

/** The requested range; undefined: the whole object. Throws 416 if the object doesn't have it. */
function readRange(request: Request, response: Response, sizeBytes: number): ByteRange | undefined {
  const condition = request.headers['if-range'];
  const { etag, 'last-modified': lastModified } = response.getHeaders();
  const changed = condition !== undefined && condition !== etag && condition !== lastModified;
  const ranges = changed ? undefined : request.range(sizeBytes, { combine: true });
  if (ranges === -1)
    throw new HttpError(416, 'The object has no such range', { 'Content-Range': `bytes */${sizeBytes}` });
  // Several ranges and invalid ones may get the whole object (RFC 9110, section 14.2).
  if (ranges === undefined || ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return ranges[0];
}

/** A client that disconnects ends the reading and is no error. */
async function stream(response: Response, open: () => ReturnType<ObjectStore['get']>): Promise<void> {
  try {
    await pipeline(await open(), response);
  } catch (error) {
    if (error instanceof ObjectMissingError) throw new HttpError(404, 'The object is no longer there');
    if (!response.closed && !response.destroyed) throw error;
  }
}
