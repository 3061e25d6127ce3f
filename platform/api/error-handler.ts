import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { type ErrorBody, HttpError } from '../../contract/http-error.ts';
import { isDatabaseAway } from '../store/database-away.ts';
import { withoutValues } from '../store/query-error.ts';

/** What a client may wait before it asks again while the database is away. */
const RETRY_AFTER_SECONDS = '5';

/** The one place where failures become answers. Nothing of an unexpected fault leaves the log. */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    // Half an answer can't be taken back: Express then breaks the connection, which is what tells the client.
    if (response.headersSent) return next(error);
    const refusal = asHttpError(error);
    if (refusal.status >= 500)
      logger.error({ err: withoutValues(error), requestId: response.getHeader('X-Request-Id') }, 'Request failed');
    const body: ErrorBody = { error: refusal.message };
    response.status(refusal.status).set(refusal.headers).json(body);
  };
}

function asHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (isUndecodable(error)) return unknownPath();
  const asked = clientStatus(error);
  if (asked !== undefined)
    return new HttpError(asked, CLIENT_FAULTS[asked] ?? 'The request can not be answered as asked');
  if (isDatabaseAway(error)) {
    return new HttpError(503, 'The database is away; try again', { 'Retry-After': RETRY_AFTER_SECONDS });
  }
  return new HttpError(500, 'An unexpected fault; the request id finds it in the log');
}

const CLIENT_FAULTS: Readonly<Record<number, string>> = {
  404: 'There is nothing at this path',
  412: 'The condition in the request does not hold',
  416: 'The file has no such range',
};

/** What Express refuses by itself, such as a range that a file doesn't have, says by a status whose fault it is. */
function clientStatus(error: unknown): number | undefined {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}

/** Express can't decode a parameter such as `%ff`: no such path then. */
function isUndecodable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'URIError';
}

function unknownPath(): HttpError {
  return new HttpError(404, 'There is nothing at this path');
}

export const notFound: RequestHandler = () => {
  throw unknownPath();
};

/** For a known path, after its methods. */
export function methodNotAllowed(allowed: readonly string[]): RequestHandler {
  const Allow = allowed.join(', ');
  return (request) => {
    throw new HttpError(405, `${request.method} is not possible here: ${Allow}`, { Allow });
  };
}
