import type { Request } from 'express';
import { HttpError } from '../../../contract/http-error.ts';
import { API_KEY_PREFIX } from '../../admin/api-keys.ts';
import type { Database } from '../../store/database.ts';
import { authenticate, readBearerToken } from '../authenticate.ts';
import { createTokenCheck } from '../operator.ts';

export type ForgeAccess = {
  /** Reading needs only the link; but a token that is sent must be the right one, so that a wrong one is found early. */
  allowReading(request: Request): Promise<void>;
  /** `formToken` is what a page's form sent; a header counts before it. */
  allowChanging(request: Request, formToken: string | undefined): Promise<void>;
};

/** Who may do what to pull requests. Throws an `HttpError`: 401 (no or wrong token), 403 (a key of the Admin API). */
export function createForgeAccess({
  db,
  operatorToken,
}: {
  db: Database;
  operatorToken: string | undefined;
}): ForgeAccess {
  const isOperator = operatorToken === undefined ? () => false : createTokenCheck(operatorToken);

  async function check(request: Request, token: string): Promise<void> {
    if (isOperator(token)) return;
    if (token.startsWith(API_KEY_PREFIX) && readBearerToken(request) === token) {
      await authenticate(db, request);
      throw new HttpError(403, 'An admin API key is of no use here: this needs the operator token');
    }
    throw refusal('The operator token is wrong');
  }

  return {
    async allowReading(request) {
      const token = readBearerToken(request);
      if (token !== undefined) await check(request, token);
    },
    async allowChanging(request, formToken) {
      const token = readBearerToken(request) ?? formToken;
      if (token === undefined || token === '') throw refusal('The operator token is required');
      await check(request, token);
    },
  };
}

function refusal(message: string): HttpError {
  return new HttpError(401, message, { 'WWW-Authenticate': 'Bearer' });
}
