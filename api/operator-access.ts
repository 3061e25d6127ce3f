import type { Request, RequestHandler } from 'express';
import { equalInConstantTime } from '../base/equal-in-constant-time.ts';
import { readBearerToken } from '../web/bearer-token.ts';
import { HttpError } from '../web/http-error.ts';

/** Requires the operator token as a bearer token; 401 otherwise. Without a configured token, every request gets a 401. */
export function operatorAccess(operatorToken: string | undefined): RequestHandler {
  return (request, _response, next) => {
    const given = readBearerToken(request);
    if (!operatorToken || given === undefined || !equalInConstantTime(given, operatorToken)) {
      throw new HttpError(401, 'the operator token is missing or wrong', { 'WWW-Authenticate': 'Bearer' });
    }
    next();
  };
}

/** The header in which a client of the operator token names its user. */
const ACTOR_HEADER = 'X-Galley-Actor';

/**
 * Who sends the request that `operatorAccess` accepted, for the history of what operators do. Everyone with the token can
 * send any name, so the actor says that the token was used. Throws HttpError 400 for a name that isn't printable.
 */
export function actorOf(request: Request): string {
  const name = request.get(ACTOR_HEADER)?.trim() ?? '';
  if (!/^[\x20-\x7e]{0,100}$/.test(name)) {
    throw new HttpError(400, `${ACTOR_HEADER}: expected up to 100 printable ASCII characters`);
  }
  return name === '' ? 'operator token' : `operator token: ${name}`;
}
