import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { setRequestId } from '../../web/request-id.ts';

/** Probes and polling clients read every few seconds, so only their failures are logged. */
const READING = new Set(['GET', 'HEAD']);

/**
 * Gives every request an id (the client's `X-Request-Id` if usable) and logs its result, without the query (which may
 * hold a link's signature), headers, bodies, and ids that open what they name: pull requests' and previews'.
 */
export function requestLog(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const requestId = setRequestId(request, response);
    const { method, path } = request;
    const startedAt = performance.now();
    response.once('close', () => {
      const durationMs = Math.round(performance.now() - startedAt);
      const status = response.writableFinished ? response.statusCode : null;
      const level = READING.has(method) && status !== null && status < 400 ? 'debug' : 'info';
      logger[level](
        {
          requestId,
          method,
          path: path.replace(/^\/(pulls|previews)\/[^/]+/, '/$1/…').slice(0, 300),
          status,
          durationMs,
        },
        'Request',
      );
    });
    next();
  };
}
