import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';

/** Gives the response an id for the log: the client's `X-Request-Id` if it is usable. */
export function setRequestId(request: Request, response: Response): string {
  const given = request.get('x-request-id') ?? '';
  const requestId = /^[\w.-]{1,128}$/.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', requestId);
  return requestId;
}
