import { type RequestHandler, raw } from 'express';
import { HttpError } from '../contract/http-error.ts';

const MAX_BODY_BYTES = 1024 * 1024;

const JSON_TYPE = /^application\/(?:json|[\w!#$&^.-]+\+json)\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^"\s;]*)/i;

/**
 * 415 for everything but `application/json` and `application/*+json`, in UTF-8 where a charset is named at all: forms
 * are what some systems send until they are told otherwise.
 */
export const requireJson: RequestHandler = (request, _response, next) => {
  const type = request.get('content-type') ?? '';
  const charset = CHARSET.exec(type)?.[1] ?? 'utf-8';
  if (!JSON_TYPE.test(type) || !/^utf-?8$/i.test(charset)) {
    throw new HttpError(415, 'expected the content type application/json');
  }
  next();
};

/** The body's bytes as they came: up to 1 MiB, nothing decoded or inflated, because they are what is signed. */
export const rawBody: RequestHandler = raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false });

/** What rawBody read; express leaves no buffer where the request had no body. */
export function bytesOf(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** Parses verified bytes. Throws HttpError 400 for what isn't JSON in UTF-8. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new HttpError(400, 'expected JSON in UTF-8');
  }
}
