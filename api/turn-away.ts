import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { HttpError } from '../contract/http-error.ts';
import type { ReceiverMetrics } from './metrics.ts';
import type { RejectedDeliveries } from './rejected-deliveries.ts';
import type { ConfiguredSource } from './sources/configured-source.ts';

/** Notes that the delivery which `response` answers is turned away, for a reason in one fixed word. */
export type TurnAway = (response: Response, reason: string, detail?: string) => void;

export type TurningAway = {
  turnAway: TurnAway;
  /** Throws 404 if the URL names no configured source. */
  known: (find: (site: string, source: string) => ConfiguredSource) => RequestHandler<Address>;
  /** For what is turned away before or after the verification, which notes its own reasons. */
  onError: ErrorRequestHandler;
};

export type TurnAwayDeps = { metrics: ReceiverMetrics; rejected: RejectedDeliveries; logger: Logger; now: () => Date };

type Address = { site: string; source: string };

/** Names in an address that nobody configured may be anything. */
const MAX_UNKNOWN_NAME = 64;

/**
 * Counts and logs what is turned away: the address it came to, why, and the answer's id; nothing of its headers, its
 * body or its query, where secrets are.
 */
export function createTurnAway({ metrics, rejected, logger, now }: TurnAwayDeps): TurningAway {
  const turnAway: TurnAway = (response, reason, detail) => {
    const address: Address | undefined = response.locals.address;
    const requestId = response.get('x-request-id');
    metrics.reject({ site: 'any', source: 'any', ...address, reason });
    if (address === undefined) return;
    rejected.add(address.site, address.source, reason, now());
    logger.warn(
      { ...address, reason, ...(detail !== undefined && { detail }), requestId },
      'A delivery was turned away',
    );
  };

  const known: TurningAway['known'] = (find) => {
    return ({ params: { site, source } }, response, next) => {
      try {
        find(site, source);
      } catch (error) {
        const [unknownSite, unknownSource] = [site, source].map((name) => name.slice(0, MAX_UNKNOWN_NAME));
        const requestId = response.get('x-request-id');
        logger.info(
          { site: unknownSite, source: unknownSource, reason: 'unknown-address', requestId },
          'A delivery came to an address that galley.yaml does not have',
        );
        throw error;
      }
      // Kept with the answer, because errors arrive without the parameters of the route that threw them.
      response.locals.address = { site, source };
      next();
    };
  };

  const onError: ErrorRequestHandler = (error: unknown, _request: Request, response, next) => {
    const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : 500;
    if (status !== 401 && status !== 503) {
      turnAway(response, `status-${status}`, error instanceof HttpError ? error.message : undefined);
    }
    next(error);
  };

  return { turnAway, known, onError };
}
