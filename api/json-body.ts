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

/**
 * Reads up to 1 MiB into `request.body`, without decoding, because the raw bytes are signed. Express's own reader waits for
 * the end of a body that is too large; this one responds at once, and Node discards the rest.
 */
export const rawBody: RequestHandler = (request, _response, next) => {
  if ((request.get('content-encoding') ?? 'identity') !== 'identity') {
    throw new HttpError(415, 'expected a body without content encoding');
  }
  if (Number(request.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const collect = (chunk: Buffer): void => {
    sizeBytes += chunk.length;
    if (sizeBytes <= MAX_BODY_BYTES) {
      chunks.push(chunk);
      return;
    }
    request.off('data', collect).off('end', finish).resume();
    next(tooLarge());
  };
  const finish = (): void => {
    request.body = Buffer.concat(chunks);
    next();
  };
  // A sender that disconnects is no error of this program, and gets no response anyway.
  const leave = (): void => next(new HttpError(400, 'the body broke off'));
  request.on('data', collect).once('end', finish).once('error', leave);
};

function tooLarge(): HttpError {
  return new HttpError(413, 'the body is larger than 1 MiB');
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
