import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { listSites } from '../activities/sites/list-sites.ts';
import { type ApiDeps, createApi } from '../api/app.ts';
import { FilteredDeliveries } from '../api/filtered-deliveries.ts';
import { processMetrics } from '../api/metrics.ts';
import { addSiteMetrics } from '../api/site-metrics.ts';
import type { GalleyConfig } from '../contract/galley-config.ts';
import { notificationTaskQueue, poolTaskQueue, TASK_QUEUES } from '../contract/names.ts';
import { POOLS } from '../contract/pools.ts';
import { createSignInLinks, type SignInLinks } from '../web/sign-in-links.ts';
import type { ProcessContext } from './process/context.ts';
import { FILTERED_DELIVERIES, openHome } from './process/home.ts';
import type { Lifetime } from './process/lifetime.ts';
import { type HttpService, serve } from './process/serve.ts';
import type { Settings } from './settings/environment.ts';
import { addQueueMetrics } from './temporal/queue-metrics.ts';
import { registerSearchAttributes, type SearchAttributes } from './temporal/search-attributes.ts';
import { openTemporal, type Temporal } from './temporal/temporal.ts';
import { startTracing, tracing } from './tracing/tracing.ts';

interface Options {
  config: GalleyConfig;
  settings: Pick<
    Settings,
    | 'operatorToken'
    | 'unsubscribeSecret'
    | 'temporalUiUrl'
    | 'apiPublicUrl'
    | 'trustedProxies'
    | 'home'
    | 'filteredDeliveriesMaxBytes'
    | 'host'
    | 'port'
  >;
  /** Links that sign in to the sites page once. */
  signInLinks: SignInLinks;
  dashboard?: ApiDeps['dashboard'];
  /** How long a stop waits for requests on kept connections; 0 by default. */
  drainMs?: number;
}

interface Context {
  temporal: Temporal;
  searchAttributes: SearchAttributes;
  logger: Logger;
  lifetime: Lifetime;
}

/** Proxies keep connections: a replaced process must not lose the delivery that is on its way over one. */
const DRAIN_MS = 3_000;

/** Runs the program `api`. */
export async function startApiProcess(config: GalleyConfig, context: ProcessContext): Promise<HttpService> {
  const { settings, logger, lifetime } = context;
  await startTracing(settings, 'api', lifetime);
  const temporal = await openTemporal({ settings, logger }, lifetime);
  const searchAttributes = registerSearchAttributes({ ...temporal, logger, signal: lifetime.signal });
  const options = { config, settings, signInLinks: createSignInLinks(), drainMs: DRAIN_MS };
  return await startApi(options, { temporal, searchAttributes, logger, lifetime });
}

/** Receives webhooks and serves sites' states until the lifetime ends, also while Temporal is unavailable. */
export async function startApi(
  { config, settings, signInLinks, dashboard, drainMs = 0 }: Options,
  context: Context,
): Promise<HttpService> {
  const { temporal, searchAttributes, lifetime } = context;
  const logger = context.logger.child({ part: 'api' });
  const app = createApi({
    client: temporal.client,
    config,
    ...(await openFiltered(settings, logger, lifetime)),
    operatorToken: settings.operatorToken,
    unsubscribeSecret: settings.unsubscribeSecret,
    temporalUiUrl: settings.temporalUiUrl,
    trustedProxies: settings.trustedProxies,
    signInLinks,
    dashboard,
    stopped: lifetime.signal,
    logger,
    temporalReady: temporal.ready,
    metrics: createMetrics(config, temporal),
    searchAttributesReady: searchAttributes.ready,
    searchAttributesRegistered: searchAttributes.registered,
    traceparent: tracing()?.current,
  });
  const traced = tracing()?.server(app, { trusted: false }) ?? app;
  const { host, port, apiPublicUrl: publicUrl } = settings;
  // Only the metrics are readable without a signature or a token.
  const local = { publicUrl, variable: 'API_PUBLIC_URL', paths: /^\/+metrics\b/i };
  const service = await serve(traced, { host, port, variable: 'PORT', local }, { drainMs });
  lifetime.onStop('api server', service.stop);
  return service;
}

/** Nothing if GALLEY_HOME can't be written: deliveries must be received anyway. */
async function openFiltered(
  { home, filteredDeliveriesMaxBytes: maxBytes }: Options['settings'],
  logger: Logger,
  lifetime: Lifetime,
): Promise<Pick<ApiDeps, 'filtered'>> {
  try {
    const folder = await openHome(home).makeFolder(FILTERED_DELIVERIES);
    const filtered = new FilteredDeliveries({ folder, maxBytes, logger });
    lifetime.onStop('filtered deliveries', () => filtered.settled());
    await filtered.restore();
    return { filtered };
  } catch (error) {
    logger.warn({ error: String(error) }, 'Filtered deliveries can not be kept, so none can be run again');
    return {};
  }
}

/** The metrics of the process, of the sites and of the orchestrator's task queues. */
function createMetrics({ sites }: GalleyConfig, { client, namespace }: Temporal): Registry {
  const registry = processMetrics();
  addSiteMetrics(registry, { list: () => listSites(client), configured: Object.keys(sites).length });
  const { orchestrator } = TASK_QUEUES;
  const queues = [
    { name: orchestrator, types: ['workflow', 'activity'] },
    ...[notificationTaskQueue(orchestrator), ...POOLS.map(({ name }) => poolTaskQueue(orchestrator, name))].map(
      (name) => ({ name, types: ['activity'] }) as const,
    ),
  ] as const;
  addQueueMetrics(registry, { client, namespace, queues });
  return registry;
}
