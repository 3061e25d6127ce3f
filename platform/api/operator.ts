import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import { HttpError } from '../../web/http-error.ts';
import { readBearerToken } from './authenticate.ts';

/** Compares hashes, so the time reveals neither content nor length. */
export function createTokenCheck(operatorToken: string): (token: string) => boolean {
  const expected = digest(operatorToken);
  return (token) => timingSafeEqual(digest(token), expected);
}

/** Lets only the operator through. */
export function requireOperator(operatorToken: string): RequestHandler {
  const isOperator = createTokenCheck(operatorToken);
  return (request, _response, next) => {
    const token = readBearerToken(request);
    if (token === undefined || !isOperator(token)) {
      throw new HttpError(401, 'The operator token is required: send Authorization: Bearer <token>', {
        'WWW-Authenticate': 'Bearer',
      });
    }
    next();
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
