import express, { type Request, type Response } from 'express';
import { HttpError } from '../../web/http-error.ts';

export const MAX_BODY_BYTES = 1024 * 1024;

const parse = express.json({ limit: MAX_BODY_BYTES, type: () => true });

/**
 * Parses a JSON body. Handlers call it at its place in the order of checks, so it isn't a middleware. Throws an
 * `HttpError`: 415 (not JSON by its content type), 413 (over 1 MiB), 400 (missing or not JSON).
 * @param options.without the result without a body, which is allowed then
 */
export async function readJsonBody(
  request: Request,
  response: Response,
  { without }: { without?: unknown } = {},
): Promise<unknown> {
  if (without !== undefined && !hasBody(request)) return without;
  if (request.headers['content-type'] !== undefined && !hasJsonType(request)) {
    throw new HttpError(415, 'The body must be sent as application/json');
  }
  await new Promise<void>((resolve, reject) => {
    parse(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(bodyError(error))));
  });
  if (request.body === undefined) throw new HttpError(400, 'A JSON body is required');
  if (!hasJsonType(request)) throw new HttpError(415, 'The body must be sent as application/json');
  return request.body;
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Reads the header alone: `request.is` needs a body, but a wrong type is wrong without one. */
function hasJsonType(request: Request): boolean {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^application\/(?:json|[^\s/]+\+json)$/.test(type);
}

function bodyError(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('status' in error)) return error;
  switch (error.status) {
    case 413:
      return new HttpError(413, `The body is too large: at most ${MAX_BODY_BYTES} bytes`);
    case 415:
      return new HttpError(415, 'The body must be sent as JSON in UTF-8, with a known content encoding');
    case 400:
      return new HttpError(400, 'The body is not valid JSON');
    default:
      return error;
  }
}
