import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { HttpError } from '../web/http-error.ts';
import type { ReceiverMetrics } from './metrics.ts';
import type { RejectedDeliveries } from './rejected-deliveries.ts';
import type { FindSource } from './webhooks/configured-source.ts';
import type { RejectReason } from './webhooks/source.ts';

/** Thrown when a delivery can't be verified. The response is the same for every reason. */
export class RejectedDelivery extends HttpError {
  readonly reason: RejectReason;

  constructor(reason: RejectReason) {
    super(401, 'the delivery could not be verified');
    this.reason = reason;
  }
}

type Rejections = {
  /** Responds with 404 if the URL names no configured source. */
  requireSource: RequestHandler<Route>;
  /** Counts and logs each error that rejects a delivery. */
  onError: ErrorRequestHandler;
};

type RejectionDeps = {
  find: FindSource;
  metrics: ReceiverMetrics;
  rejected: RejectedDeliveries;
  logger: Logger;
  now: () => Date;
};

type Route = { site: string; source: string };

/** Unknown names come from the sender and may have any length. */
const MAX_UNKNOWN_NAME = 64;

/** Logs the site, the source, the reason and the request's id. Headers, body and query may hold secrets. */
export function createRejections({ find, metrics, rejected, logger, now }: RejectionDeps): Rejections {
  function reject(response: Response, reason: string, detail?: string): void {
    const route: Route | undefined = response.locals.route;
    const requestId = response.get('x-request-id');
    metrics.reject({ site: 'any', source: 'any', ...route, reason });
    if (route === undefined) return;
    rejected.add(route.site, route.source, reason, now());
    logger.warn({ ...route, reason, ...(detail !== undefined && { detail }), requestId }, 'A delivery was rejected');
  }

  return {
    requireSource({ params: { site, source } }, response, next) {
      try {
        find(site, source);
      } catch (error) {
        const [unknownSite, unknownSource] = [site, source].map((name) => name.slice(0, MAX_UNKNOWN_NAME));
        const requestId = response.get('x-request-id');
        logger.info(
          { site: unknownSite, source: unknownSource, reason: 'unknown-address', requestId },
          'A delivery was rejected: galley.yaml has no such site or source',
        );
        throw error;
      }
      // An error handler doesn't get the parameters of the route that threw.
      response.locals.route = { site, source };
      next();
    },

    onError(error: unknown, _request: Request, response, next) {
      if (error instanceof RejectedDelivery) {
        reject(response, error.reason);
      } else {
        const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : 500;
        // After a 503 the sender tries again: nothing was rejected.
        if (status !== 503)
          reject(response, `status-${status}`, error instanceof HttpError ? error.message : undefined);
      }
      next(error);
    },
  };
}
