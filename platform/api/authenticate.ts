import type { Request, RequestHandler } from 'express';
import { isAddressIn } from '../../base/ip-address.ts';
import { readBearerToken } from '../../web/bearer-token.ts';
import { clientAddress } from '../../web/client-address.ts';
import { HttpError } from '../../web/http-error.ts';
import { hashApiKey, isApiKeyText } from '../admin/api-key-text.ts';
import { type Caller, findCaller, noteKeyUse } from '../store/api-keys.ts';
import type { Database } from '../store/database.ts';

const CHALLENGE = { 'WWW-Authenticate': 'Bearer' } as const;

/** How often a key's last use is stored. */
const NOTE_USE_AFTER_MS = 60_000;

/** What a key with the scope `read` may do. */
const READING = new Set(['GET', 'HEAD']);

/**
 * The caller of a request. Throws an `HttpError` 401 for a missing, malformed, unknown, revoked or expired key, and for
 * one that this address may not use; 403 for one that may only read.
 */
export async function authenticate(db: Database, request: Request): Promise<Caller> {
  const key = readBearerToken(request);
  if (key === undefined) {
    throw new HttpError(401, 'An admin API key is required: send Authorization: Bearer <key>', CHALLENGE);
  }
  const at = new Date();
  const found = isApiKeyText(key) ? await findCaller(db, { sha256: hashApiKey(key), at }) : undefined;
  if (found === undefined) throw invalid('The admin API key is unknown, has expired or was revoked');
  const { caller, lastUsedAt, allowedAddresses, readOnly } = found;
  if (allowedAddresses !== null && !isAddressIn(allowedAddresses, clientAddress(request))) {
    throw invalid('The admin API key is not valid from this address');
  }
  const unlessAfter = new Date(at.getTime() - NOTE_USE_AFTER_MS);
  if (lastUsedAt === null || lastUsedAt <= unlessAfter) {
    await noteKeyUse(db, { id: caller.actor.id, at, unlessAfter });
  }
  if (readOnly && !READING.has(request.method)) {
    throw new HttpError(403, `The admin API key has the scope read: ${request.method} needs one without it`);
  }
  return caller;
}

/** Responds to a caller with what `answer` returns, as JSON. Throws what `authenticate` does. */
export function forCaller(
  db: Database,
  answer: (caller: Caller, request: Request) => object | Promise<object>,
): RequestHandler {
  return async (request, response) => {
    const caller = await authenticate(db, request);
    response.json(await answer(caller, request));
  };
}

function invalid(message: string): HttpError {
  return new HttpError(401, message, { 'WWW-Authenticate': 'Bearer error="invalid_token"' });
}
