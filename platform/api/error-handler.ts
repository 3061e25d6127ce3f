import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { clientStatus, HttpError } from '../../web/http-error.ts';
import { renderErrors } from '../../web/render-errors.ts';
import { retryAfter } from '../../web/retry-after.ts';
import { isDatabaseAway } from '../store/database-away.ts';
import { withoutValues } from '../store/query-error.ts';

/** Retry-After while the database is unavailable. */
const RETRY_AFTER_SECONDS = 5;

/** The one place that turns errors into responses. Details of an unexpected error are only logged. */
export function platformErrorHandler(logger: Logger): ErrorRequestHandler {
  return renderErrors({
    toRefusal: asPlatformError,
    log(error, { status }, _request, response) {
      const requestId = response.getHeader('X-Request-Id');
      if (status >= 500) logger.error({ err: withoutValues(error), requestId }, 'Request failed');
    },
  });
}

/** The response to an error: client faults keep their status, anything unexpected is 500 without details. */
export function asPlatformError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (isUndecodable(error)) return unknownPath();
  const asked = clientStatus(error);
  if (asked !== undefined) return new HttpError(asked, CLIENT_FAULTS[asked] ?? 'The request is not acceptable');
  if (isDatabaseAway(error)) {
    return new HttpError(503, 'The database is away; try again', retryAfter(RETRY_AFTER_SECONDS));
  }
  return new HttpError(500, 'An unexpected error; look for the request id in the log');
}

const CLIENT_FAULTS: Readonly<Record<number, string>> = {
  404: 'There is nothing at this path',
  412: 'The condition in the request does not hold',
  416: 'The file has no such range',
};

/** Express can't decode a parameter such as `%ff`: treat it as an unknown path. */
function isUndecodable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'URIError';
}

function unknownPath(): HttpError {
  return new HttpError(404, 'There is nothing at this path');
}

export const notFound: RequestHandler = () => {
  throw unknownPath();
};
