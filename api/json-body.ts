import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { RequestHandler } from 'express';
import { HttpError } from '../web/http-error.ts';

const MAX_BODY_BYTES = 1024 * 1024;

const JSON_TYPE = /^application\/(?:json|[\w!#$&^.-]+\+json)\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^"\s;]*)/i;

/**
 * Responds with 415 to everything but `application/json` and `application/*+json` in UTF-8. Some systems send forms by
 * default.
 */
export const requireJson: RequestHandler = (request, _response, next) => {
  const type = request.get('content-type') ?? '';
  const charset = CHARSET.exec(type)?.[1] ?? 'utf-8';
  if (!JSON_TYPE.test(type) || !/^utf-?8$/i.test(charset)) {
    throw new HttpError(415, 'expected the content type application/json');
  }
  next();
};

/** The same for a request that needs no body. */
export const allowJson: RequestHandler = (request, response, next) => {
  const hasBody = request.get('transfer-encoding') !== undefined || Number(request.get('content-length') ?? 0) > 0;
  if (hasBody) requireJson(request, response, next);
  else next();
};

/** Reads up to 1 MiB into `request.body`. */
export const rawBody: RequestHandler = async (request, _response, next) => {
  request.body = await readBody(request, request.headers);
  next();
};

/** Takes the bodies of more than 1 MiB. */
export type LargeBody = {
  maxBytes: number;
  /** Called before the first bytes of a large body. May throw. */
  begin(): void;
  /** Gets each piece in order, the next one when it is done. */
  write(chunk: Buffer): Promise<void>;
};

/**
 * Reads a body without decoding, because the raw bytes are signed. Resolves with up to 1 MiB; with null if `large` took it.
 * Express's own reader waits for the end of a body that is too large; this one rejects at once, and Node discards the rest.
 * @throws HttpError 400, 413, 415, and what `large` throws
 */
export async function readBody(
  stream: Readable,
  headers: IncomingHttpHeaders,
  large?: LargeBody,
): Promise<Buffer | null> {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new HttpError(415, 'expected a body without content encoding');
  }
  const maxBytes = large?.maxBytes ?? MAX_BODY_BYTES;
  const announced = Number(headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  let taking = false;
  if (announced > MAX_BODY_BYTES) {
    large?.begin();
    taking = true;
  }
  const chunks: Buffer[] = [];
  let sizeBytes = 0;

  async function take(chunk: Buffer): Promise<void> {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw tooLarge(maxBytes);
    if (sizeBytes > MAX_BODY_BYTES && !taking) {
      large?.begin();
      taking = true;
    }
    chunks.push(chunk);
    if (taking) for (const each of chunks.splice(0)) await large?.write(each);
  }

  await forEachChunk(stream, take);
  return taking ? null : Buffer.concat(chunks);
}

/** Unlike an async iterator, it leaves the stream open if `take` rejects, so that the sender gets a response. */
async function forEachChunk(stream: Readable, take: (chunk: Buffer) => Promise<void>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let last = Promise.resolve();
    const fail = (error: unknown): void => {
      stream.off('data', onData).off('end', onEnd).resume();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      stream.pause();
      last = take(chunk).then(() => void stream.resume());
      last.catch(fail);
    };
    const onEnd = (): void => void last.then(resolve, () => undefined);
    // A sender that disconnects is no error of this program, and gets no response anyway.
    stream
      .on('data', onData)
      .once('end', onEnd)
      .once('error', () => fail(new HttpError(400, 'the body broke off')));
  });
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `the body is larger than ${maxBytes / MAX_BODY_BYTES} MiB`);
}

/** The bytes that rawBody read. */
export function bodyBytes(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** Shared, because each decoder holds native memory that is expensive to allocate and to collect. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses verified bytes. Throws HttpError 400 if they aren't JSON in UTF-8. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new HttpError(400, 'expected JSON in UTF-8');
  }
}
