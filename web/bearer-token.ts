import type { Request } from 'express';

/** The token of `Authorization: Bearer <token>`, which may hold any characters; undefined without one. */
export function readBearerToken(request: Request): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
}
