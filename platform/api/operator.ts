import type { RequestHandler } from 'express';
import { equalInConstantTime } from '../../base/equal-in-constant-time.ts';
import { readBearerToken } from '../../web/bearer-token.ts';
import { HttpError } from '../../web/http-error.ts';

/** Lets only the operator through. */
export function requireOperatorToken(operatorToken: string): RequestHandler {
  return (request, _response, next) => {
    const token = readBearerToken(request);
    if (token === undefined || !equalInConstantTime(token, operatorToken)) {
      throw new HttpError(401, 'The operator token is required: send Authorization: Bearer <token>', {
        'WWW-Authenticate': 'Bearer',
      });
    }
    next();
  };
}
