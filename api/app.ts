import type { Client } from '@temporalio/client';
import express from 'express';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { type GalleyConfig, siteNamed } from '../contract/galley-config.ts';
import type { PublishedSignal } from '../contract/publish-event.ts';
import { HttpError } from '../web/http-error.ts';
import type { OwnersDashboard, SignInLinks } from '../web/sign-in-links.ts';
import type { Wait } from '../web/slow-guesses.ts';
import { answerPing } from './answer-ping.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { createDispatch, rulesById } from './dispatch.ts';
import type { FilteredDeliveries } from './filtered-deliveries.ts';
import { errorHandler, onlyMethods, plainHeaders, unknownPath } from './http-edge.ts';
import { requireJson } from './json-body.ts';
import { createReceiverMetrics, processMetrics } from './metrics.ts';
import { observeDeliveries } from './observe-deliveries.ts';
import { operatorAccess } from './operator-access.ts';
import { addPages } from './pages/routes.tsx';
import { createLargeBodySlots } from './read-delivery.ts';
import { createReceiver } from './receive.ts';
import { RecentDeliveries } from './recent-deliveries.ts';
import { createRejections } from './reject.ts';
import { RejectedDeliveries } from './rejected-deliveries.ts';
import { acceptOldNames, createRenamedSites } from './renamed-sites.ts';
import { createSiteActions } from './site-actions.ts';
import { createSiteStatus, type SiteStatusReader } from './site-status.ts';
import { addSteeringRoutes } from './steer-sites.ts';
import { createTemporalGateway, type TemporalGateway } from './temporal-gateway.ts';
import { unavailable } from './unavailable.ts';
import { addUnsubscribeRoutes } from './unsubscribe.ts';
import { sourceFinder } from './webhooks/configured-source.ts';

/** Ghost waits only 2 s for a response. */
export const DELIVERY_DEADLINE_MS = 1_500;
/** Bodies of more than 1 MiB that are read at the same time. */
const LARGE_BODIES = 4;
/** A person waits for a page, and a program for a state. */
export const READ_DEADLINE_MS = 2_000;

export type ApiDeps = {
  client: Client;
  config: GalleyConfig;
  /** Required to read the sites' states and to sign in; undefined rejects every such request. */
  operatorToken: string | undefined;
  /** Undefined: filtered deliveries can't be run again. */
  filtered?: FilteredDeliveries | undefined;
  /** Links that sign in to the sites page once. */
  signInLinks?: SignInLinks;
  /** The dashboard of the same `galley up`. */
  dashboard?: OwnersDashboard | undefined;
  /** The URL of Temporal's UI, for links to workflows. */
  temporalUiUrl?: string | undefined;
  /** Ends live updates, which would otherwise keep a stopping server waiting. */
  stopped?: AbortSignal;
  /** A second secret, besides the Admin API key, that verifies links to unsubscribe. */
  unsubscribeSecret?: string | undefined;
  logger: Logger;
  /** Whether Temporal can be reached now, for /readyz. */
  temporalReady: () => boolean | Promise<boolean>;
  /** The registry behind /metrics, by default with the metrics of the process. The receiver adds its own. */
  metrics?: Registry;
  /** Whether the namespace has our search attributes. Without them, workflows start without any. */
  searchAttributesReady?: () => boolean;
  /** False while they are being registered, as after a restore without Temporal's data. */
  searchAttributesRegistered?: () => Promise<boolean>;
  now?: () => Date;
  /** Delays the answer to a wrong operator token; by default with a timer. */
  wait?: Wait;
  /** Addresses and networks of proxies whose `X-Forwarded-…` headers are believed; undefined: none. */
  trustedProxies?: readonly string[];
  /** Returns the `traceparent` of the request's span, if traces are on. */
  traceparent?: (() => string | undefined) | undefined;
  /** After this time without Temporal's acknowledgment, a delivery gets a 503. */
  deliveryDeadlineMs?: number;
  /** After this time, a state or a page lacks what its workflow didn't return. */
  readDeadlineMs?: number;
};

/**
 * The orchestrator's HTTP API: webhooks, site states, health and metrics. Mount no body parser before it: deliveries are
 * verified over their raw bytes.
 */
export function createApi(deps: ApiDeps): express.Express {
  const { client, config, operatorToken, filtered, logger, now = () => new Date() } = deps;
  const { metrics: registry = processMetrics(), searchAttributesReady = () => false } = deps;
  const { deliveryDeadlineMs: deadlineMs = DELIVERY_DEADLINE_MS, readDeadlineMs = READ_DEADLINE_MS } = deps;
  const gateway = createTemporalGateway({ client, searchAttributesReady, signalDeadlineMs: deadlineMs });
  const [recent, rejected] = [new RecentDeliveries(), new RejectedDeliveries()];
  for (const { site, about } of filtered?.list() ?? []) {
    if (siteNamed(config, site)) recent.add(site, { ...about, outcome: 'filtered', workflowId: null }, 0);
  }
  const { exports, prompts, metrics } = createDeliveryQueues({ config, gateway, registry, deadlineMs, logger });
  const dataConverter = client.options.loadedDataConverter;
  const status = createSiteStatus({ config, gateway, dataConverter, recent, rejected, logger, readDeadlineMs });
  const find = sourceFinder(config);
  const { requireSource, onError } = createRejections({ find, metrics, rejected, logger, now });
  const renamed = createRenamedSites({ config, list: () => gateway.listRenamed(deadlineMs), now });
  const dispatch = createDispatch({ config, exports, prompts, gateway, renamed });
  const { receive, runAgain } = createReceiver({
    find,
    slots: createLargeBodySlots(LARGE_BODIES),
    filtered,
    dispatch,
    mayHaveArrived: (...delivery) => recent.mayHaveArrived(...delivery),
    onOutcome: observeDeliveries({ metrics, recent }),
    now,
    traceparent: deps.traceparent,
  });

  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.set('trust proxy', deps.trustedProxies ?? []);
  app.use(plainHeaders);

  app.use('/webhooks', acceptOldNames(config, renamed));
  app
    .route('/webhooks/:site/:source')
    .all(requireSource)
    .post(answerPing(find), requireJson, receive)
    .all(onlyMethods('POST'));

  app.use('/webhooks', onError);

  // Links in older mail are signed with the Admin API key.
  const unsubscribeKeys = [deps.unsubscribeSecret, config.adminApi.key].filter((key) => key !== undefined);
  addUnsubscribeRoutes(app, { keys: unsubscribeKeys, gateway, renamed, logger });

  const operator = operatorAccess(operatorToken);
  addSiteRoutes(app, { operator, status });
  const actions = createSiteActions({ config, gateway, status, renamed, runFilteredAgain: runAgain, logger });
  addSteeringRoutes(app, { actions, status, operator });
  addHealthRoutes(app, deps, registry);

  const { signInLinks, dashboard, temporalUiUrl, stopped } = deps;
  addPages(app, {
    ...{ client, config, gateway, status, actions, operatorToken, searchAttributesReady, logger, now },
    ...{ signInLinks, dashboard, temporalUiUrl, stopped, readDeadlineMs, wait: deps.wait, filtered },
  });

  app.use(unknownPath);
  app.use(errorHandler(logger));
  return app;
}

/** The queues of exports and of prompts, one lane for each site and each rule, and the receiver's metrics. */
function createDeliveryQueues(deps: {
  config: GalleyConfig;
  gateway: TemporalGateway;
  registry: Registry;
  deadlineMs: number;
  logger: Logger;
}) {
  const { config, gateway, registry, deadlineMs, logger } = deps;
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

  async function measured(to: object, signal: PublishedSignal, send: () => Promise<void>): Promise<void> {
    const startMs = performance.now();
    const deliveries = signal.deliveries.length;
    const seconds = (): number => (performance.now() - startMs) / 1000;
    try {
      await send();
      metrics.signal({ outcome: 'acknowledged' }, seconds(), deliveries);
    } catch (error) {
      metrics.signal({ outcome: 'failed' }, seconds(), deliveries);
      logger.warn({ ...to, deliveries, reason: reasonOf(error) }, 'Temporal did not acknowledge a signal');
      throw unavailable('Temporal can not be reached');
    }
  }

  return { exports, prompts, metrics };
}

/** The SDK wraps the connection's own error, which operators need. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return String(cause ?? error);
}

function addSiteRoutes(
  app: express.Express,
  { operator, status }: { operator: express.RequestHandler; status: SiteStatusReader },
): void {
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
}

function addHealthRoutes(
  app: express.Express,
  { temporalReady, searchAttributesRegistered }: Pick<ApiDeps, 'temporalReady' | 'searchAttributesRegistered'>,
  registry: Registry,
): void {
  app
    .route('/healthz')
    .get((_request, response) => void response.json({ status: 'ok' }))
    .all(onlyMethods('GET', 'HEAD'));
  app
    .route('/readyz')
    .get(async (_request, response) => {
      if (!(await temporalReady())) throw unavailable('Temporal can not be reached');
      if ((await searchAttributesRegistered?.()) === false) {
        throw unavailable("Galley's search attributes are being registered in Temporal");
      }
      response.json({ status: 'ready' });
    })
    .all(onlyMethods('GET', 'HEAD'));
  app
    .route('/metrics')
    .get(async (_request, response) => {
      response.type(registry.contentType).send(await registry.metrics());
    })
    .all(onlyMethods('GET', 'HEAD'));
}

const page = z.object({ cursor: z.string().optional(), limit: z.coerce.number().int().min(1).max(200).default(50) });

function pageQuery(query: unknown): z.infer<typeof page> {
  const parsed = page.safeParse(query);
  if (!parsed.success) throw new HttpError(400, 'expected limit to be a whole number from 1 to 200');
  return parsed.data;
}
