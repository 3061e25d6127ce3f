import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { clientStatus, HttpError } from '../web/http-error.ts';
import { renderErrors } from '../web/render-errors.ts';
import { setRequestId } from '../web/request-id.ts';

/** Headers of every response: the request's id for the log, and no sniffing, framing or caching by browsers. */
export const plainHeaders: RequestHandler = (request, response, next) => {
  setRequestId(request, response);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cache-Control', 'no-store');
  next();
};

/** Responds with 405 to every other method of a known path. */
export function onlyMethods(...methods: string[]): RequestHandler {
  return () => {
    throw new HttpError(405, `expected ${methods.join(' or ')}`, { Allow: methods.join(', ') });
  };
}

export const unknownPath: RequestHandler = () => {
  throw new HttpError(404, 'not found');
};

/** Renders every error as `{error}` without internals. */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  return renderErrors({
    toRefusal: asHttpError,
    log(error, { status }, request, response) {
      const requestId = response.get('x-request-id');
      if (status === 500) logger.error({ err: error, requestId, route: routeOf(request) }, 'A request failed');
    },
  });
}

/** The route's pattern, never the path: a link to unsubscribe works like a password. */
function routeOf(request: Request): string | undefined {
  const route: unknown = request.route;
  const pattern: unknown = typeof route === 'object' && route !== null && 'path' in route ? route.path : undefined;
  return typeof pattern === 'string' ? pattern : undefined;
}

/** Express throws errors with a status, such as for an undecodable path. Any other error is a fault of this program. */
export function asHttpError(error: unknown): Pick<HttpError, 'status' | 'message' | 'headers'> {
  if (error instanceof HttpError) return error;
  const status = clientStatus(error);
  if (status !== undefined) return new HttpError(status, 'bad request');
  return new HttpError(500, 'internal error');
}
