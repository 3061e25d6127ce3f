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
      await sendObject({ request, response, objects, ...named, info });
    },
  });
}

type Sending = {
  request: Request;
  response: Response;
  objects: ObjectStore;
  key: string;
  /** What a browser saves it as; null: its key. */
  fileName: string | null;
  info: ObjectInfo;
};

type Validators = { ETag: string; 'Last-Modified': string };

/** Sends an object with its validators: conditional, one range, or whole. */
async function sendObject({ request, response, objects, key, fileName, info }: Sending): Promise<void> {
  const validators = {
    ETag: `"${info.sizeBytes.toString(16)}-${info.modifiedAt.getTime().toString(16)}"`,
    'Last-Modified': info.modifiedAt.toUTCString(),
  };
  // A cache that answers by itself would still serve a link that has expired.
  const cached = { ...validators, 'Cache-Control': 'private, no-cache, no-transform' };
  if (isUnchanged(request, validators)) {
    response.status(304).set(cached).end();
    return;
  }
  const range = readRange(request, validators, info.sizeBytes);
  response.set({ ...cached, 'Accept-Ranges': 'bytes' });
  if (fileName !== null) response.attachment(fileName);
  response.type('application/octet-stream');
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
function isUnchanged({ headers }: Request, validators: Validators): boolean {
  const known = headers['if-none-match']?.split(',').map((each) => each.trim().replace(/^W\//, ''));
  if (known !== undefined) return known.some((each) => each === '*' || each === validators.ETag);
  // A date that can't be read is no condition.
  return Date.parse(headers['if-modified-since'] ?? '') >= Date.parse(validators['Last-Modified']);
}

/** The requested range; undefined: the whole object. Throws 416 if the object doesn't have it. */
function readRange(request: Request, validators: Validators, sizeBytes: number): ByteRange | undefined {
  const condition = request.get('if-range');
  const changed = condition !== undefined && !Object.values(validators).includes(condition);
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
