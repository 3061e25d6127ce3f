import type { RequestHandler } from 'express';
import { HttpError } from '../contract/http-error.ts';
import { equalInConstantTime } from './webhooks/signature.ts';

/** Requires the operator token as a bearer token; 401 otherwise. Without a configured token, every request gets a 401. */
export function operatorAccess(operatorToken: string | undefined): RequestHandler {
  return (request, _response, next) => {
    const given = /^Bearer +(\S+) *$/i.exec(request.get('authorization') ?? '')?.[1];
    if (!operatorToken || given === undefined || !equalInConstantTime(given, operatorToken)) {
      throw new HttpError(401, 'the operator token is missing or wrong', { 'WWW-Authenticate': 'Bearer' });
    }
    next();
  };
}
