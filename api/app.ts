import type { Client } from '@temporalio/client';
import express from 'express';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import type { GalleyConfig } from '../contract/galley-config.ts';
import { HttpError } from '../contract/http-error.ts';
import type { PublishedSignal } from '../contract/publish-event.ts';
import { answerTrial } from './answer-trial.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { onlyMethods, plainHeaders, renderErrors, unknownPath } from './http-edge.ts';
import { createIntake, rulesById } from './intake.ts';
import { rawBody, requireJson } from './json-body.ts';
import { createReceiverMetrics, processMetrics } from './metrics.ts';
import { operatorAccess } from './operator-access.ts';
import { createReceiver, sourceFinder } from './receive.ts';
import { RecentDeliveries } from './recent-deliveries.ts';
import { RejectedDeliveries } from './rejected-deliveries.ts';
import { createSiteStatus } from './site-status.ts';
import { addSteeringRoutes } from './steer-sites.ts';
import { createTemporalGateway } from './temporal-gateway.ts';
import { createTurnAway } from './turn-away.ts';
import { unavailable } from './unavailable.ts';
import { addUnsubscribeRoutes } from './unsubscribe.ts';

/** Ghost, the least patient sender, waits 2 s for a response. */
export const DELIVERY_DEADLINE_MS = 1_500;

export type ApiDeps = {
  client: Client;
  config: GalleyConfig;
  /** Who has it may read the sites' states; without one nobody may. */
  operatorToken: string | undefined;
  /** Signs links to unsubscribe besides the Admin API key; undefined: only that does. */
  unsubscribeSecret?: string | undefined;
  logger: Logger;
  /** Whether Temporal can be reached now, for /readyz. */
  temporalReady: () => boolean | Promise<boolean>;
  /** Where /metrics is read from, else one that holds the process's own; the receiver's are added to it. */
  metrics?: Registry;
  /** Whether the namespace has our search attributes; without them workflows start without. */
  searchAttributesReady?: () => boolean;
  now?: () => Date;
  /** A delivery that Temporal does not hold by then is answered 503. */
  deliveryDeadlineMs?: number;
};

/**
 * The orchestrator's HTTP side: webhooks in, site states and health out. Mount nothing that reads bodies in front of
 * it: deliveries are verified over their raw bytes.
 */
export function createApi(deps: ApiDeps): express.Express {
  const { client, config, operatorToken, logger, temporalReady, now = () => new Date() } = deps;
  const { metrics: registry = processMetrics(), searchAttributesReady = () => false } = deps;
  const { deliveryDeadlineMs: deadlineMs = DELIVERY_DEADLINE_MS } = deps;
  const gateway = createTemporalGateway({ client, searchAttributesReady, signalDeadlineMs: deadlineMs });
  const [recent, rejected] = [new RecentDeliveries(), new RejectedDeliveries()];
  const exports = new DeliveryQueue({
    deadlineMs,
    send: (site, signal) => {
      const domain = config.sites[site]?.domain ?? site;
      return measured({ site }, signal, () => gateway.publish({ site, domain }, signal));
    },
  });
  const rules = rulesById(config);
  const prompts = new DeliveryQueue({
    deadlineMs,
    wholeEvents: true,
    send: async (lane, signal) => {
      const rule = rules.get(lane);
      if (rule !== undefined) await measured(rule, signal, () => gateway.prompt(rule, signal));
    },
  });
  const metrics = createReceiverMetrics(registry, () => exports.size + prompts.size);
  const dataConverter = client.options.loadedDataConverter;
  const status = createSiteStatus({ config, gateway, dataConverter, recent, rejected, logger });
  const { turnAway, known, onError } = createTurnAway({ metrics, rejected, logger, now });
  const intake = createIntake({ config, exports, prompts, gateway });
  const find = sourceFinder(config);
  const receive = createReceiver({ find, intake, recent, metrics, turnAway, now });

  async function measured(to: object, signal: PublishedSignal, send: () => Promise<void>): Promise<void> {
    const startMs = performance.now();
    const deliveries = signal.deliveries.length;
    const seconds = (): number => (performance.now() - startMs) / 1000;
    try {
      await send();
      metrics.signal({ outcome: 'acknowledged' }, seconds(), deliveries);
    } catch (error) {
      metrics.signal({ outcome: 'failed' }, seconds(), deliveries);
      logger.warn({ ...to, deliveries, reason: reasonOf(error) }, 'Temporal did not take a signal');
      throw unavailable('Temporal can not be reached');
    }
  }

  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use(plainHeaders);

  app
    .route('/webhooks/:site/:source')
    .all(known(find))
    .post(answerTrial(find), requireJson, rawBody, receive)
    .all(onlyMethods('POST'));

  app.use('/webhooks', onError);

  // Earlier mails' links were signed with the Admin API key.
  const unsubscribeKeys = [deps.unsubscribeSecret, config.adminApi.key].filter((key) => key !== undefined);
  addUnsubscribeRoutes(app, { keys: unsubscribeKeys, gateway, logger });

  const operator = operatorAccess(operatorToken);
  app
    .route('/sites')
    .get(operator, async (request, response) => {
      const { cursor, limit } = pageQuery(request.query);
      response.json(await status.page(cursor, limit));
    })
    .all(onlyMethods('GET', 'HEAD'));
  app.route('/sites/:site').get(operator, async ({ params }, response) => {
    response.json(await status.one(params.site));
  });
  addSteeringRoutes(app, { config, gateway, status, operator, logger });

  app
    .route('/healthz')
    .get((_request, response) => void response.json({ status: 'ok' }))
    .all(onlyMethods('GET', 'HEAD'));
  app
    .route('/readyz')
    .get(async (_request, response) => {
      if (!(await temporalReady())) throw unavailable('Temporal can not be reached');
      response.json({ status: 'ready' });
    })
    .all(onlyMethods('GET', 'HEAD'));
  app
    .route('/metrics')
    .get(async (_request, response) => {
      response.type(registry.contentType).send(await registry.metrics());
    })
    .all(onlyMethods('GET', 'HEAD'));

  app.use(unknownPath);
  app.use(renderErrors(logger));
  return app;
}

/** The SDK wraps what the connection said; that is what tells an operator something. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return String(cause ?? error);
}

const page = z.object({ cursor: z.string().optional(), limit: z.coerce.number().int().min(1).max(200).default(50) });

function pageQuery(query: unknown): z.infer<typeof page> {
  const parsed = page.safeParse(query);
  if (!parsed.success) throw new HttpError(400, 'expected limit to be a whole number from 1 to 200');
  return parsed.data;
}
