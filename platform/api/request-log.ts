import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';

const GIVEN_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Reading is what probes and polling clients do every few seconds: worth a line only where it fails. */
const READING = new Set(['GET', 'HEAD']);

/**
 * Names every request (the client's `X-Request-Id` where it sent a usable one) and logs how it ended: no query, which
 * may hold a link's signature, no headers, no bodies, and no pull request's id, which opens its page.
 */
export function requestLog(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const given = request.headers['x-request-id'];
    const requestId = typeof given === 'string' && GIVEN_ID.test(given) ? given : randomUUID();
    response.setHeader('X-Request-Id', requestId);
    const { method, path } = request;
    const startedAt = performance.now();
    response.once('close', () => {
      const durationMs = Math.round(performance.now() - startedAt);
      const status = response.writableFinished ? response.statusCode : null;
      const level = READING.has(method) && status !== null && status < 400 ? 'debug' : 'info';
      logger[level](
        { requestId, method, path: path.replace(/^\/pulls\/pr_[^/]+/, '/pulls/…').slice(0, 300), status, durationMs },
        'Request',
      );
    });
    next();
  };
}
