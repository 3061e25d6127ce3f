import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { listSites } from '../activities/sites/list-sites.ts';
import { createApi } from '../api/app.ts';
import { processMetrics } from '../api/metrics.ts';
import type { SignInLinks } from '../api/pages/sign-in-links.ts';
import type { GalleyConfig } from '../contract/galley-config.ts';
import { notificationTaskQueue, TASK_QUEUES } from '../contract/names.ts';
import { addQueueMetrics } from './metrics/queue-metrics.ts';
import { addSiteMetrics } from './metrics/site-metrics.ts';
import type { Lifetime } from './process/lifetime.ts';
import { type HttpService, serve } from './process/serve.ts';
import type { SearchAttributes } from './temporal/search-attributes.ts';
import type { Temporal } from './temporal/temporal.ts';
import { tracing } from './tracing/tracing.ts';

interface Options {
  config: GalleyConfig;
  operatorToken: string | undefined;
  unsubscribeSecret: string | undefined;
  /** Links that sign in to the sites page once. */
  signInLinks?: SignInLinks;
  temporalUiUrl: string | undefined;
  host: string;
  port: number;
}

interface Context {
  temporal: Temporal;
  searchAttributes: SearchAttributes;
  logger: Logger;
  lifetime: Lifetime;
}

/** Receives webhooks and serves sites' states until the lifetime ends, also while Temporal is unavailable. */
export async function startOrchestratorApi(options: Options, context: Context): Promise<HttpService> {
  const { temporal, searchAttributes, lifetime } = context;
  const app = createApi({
    client: temporal.client,
    config: options.config,
    operatorToken: options.operatorToken,
    unsubscribeSecret: options.unsubscribeSecret,
    temporalUiUrl: options.temporalUiUrl,
    ...(options.signInLinks && { signInLinks: options.signInLinks }),
    stopped: lifetime.signal,
    logger: context.logger.child({ part: 'api' }),
    temporalReady: temporal.ready,
    metrics: createMetrics(options.config, temporal),
    searchAttributesReady: searchAttributes.ready,
    traceparent: tracing()?.current,
  });
  const traced = tracing()?.server(app, { trusted: false }) ?? app;
  const service = await serve(traced, { host: options.host, port: options.port, variable: 'PORT' });
  lifetime.onStop('api server', service.stop);
  return service;
}

/** The metrics of the process, of the sites and of the orchestrator's task queues. */
function createMetrics({ sites }: GalleyConfig, { client, namespace }: Temporal): Registry {
  const registry = processMetrics();
  addSiteMetrics(registry, { list: () => listSites(client), configured: Object.keys(sites).length });
  const { orchestrator } = TASK_QUEUES;
  const queues = [
    { name: orchestrator, types: ['workflow', 'activity'] },
    { name: notificationTaskQueue(orchestrator), types: ['activity'] },
  ] as const;
  addQueueMetrics(registry, { client, namespace, queues });
  return registry;
}
