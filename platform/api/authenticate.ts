import type { Request } from 'express';
import { HttpError } from '../../contract/http-error.ts';
import { API_KEY_PREFIX, hashApiKey } from '../admin/api-keys.ts';
import { type Caller, findCaller } from '../store/api-keys.ts';
import type { Database } from '../store/database.ts';

const CHALLENGE = { 'WWW-Authenticate': 'Bearer' } as const;

/** The token of `Authorization: Bearer <token>`, which may hold any characters; undefined without one. */
export function readBearerToken(request: Request): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
}

/** The caller of a request. Throws an `HttpError` 401 for a missing, malformed, unknown or revoked key. */
export async function authenticate(db: Database, request: Request): Promise<Caller> {
  const key = readBearerToken(request);
  if (key === undefined) {
    throw new HttpError(401, 'An admin API key is required: send Authorization: Bearer <key>', CHALLENGE);
  }
  const caller = key.startsWith(API_KEY_PREFIX) ? await findCaller(db, hashApiKey(key)) : undefined;
  if (caller === undefined) {
    throw new HttpError(401, 'The admin API key is unknown or was revoked', {
      'WWW-Authenticate': 'Bearer error="invalid_token"',
    });
  }
  return caller;
}
