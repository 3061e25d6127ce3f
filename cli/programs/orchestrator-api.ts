import type { Logger } from 'pino';
import { createApi } from '../../api/app.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { Lifetime } from '../lifetime.ts';
import type { SearchAttributes } from '../search-attributes.ts';
import { type HttpService, serve } from '../serve.ts';
import type { Temporal } from '../temporal.ts';

interface Wanted {
  config: GalleyConfig;
  operatorToken: string | undefined;
  unsubscribeSecret: string | undefined;
  host: string;
  port: number;
}

interface Surroundings {
  temporal: Temporal;
  searchAttributes: SearchAttributes;
  logger: Logger;
  lifetime: Lifetime;
}

/** Receives webhooks and serves sites' states until the lifetime ends, also while Temporal is unavailable. */
export async function startOrchestratorApi(wanted: Wanted, surroundings: Surroundings): Promise<HttpService> {
  const { temporal, searchAttributes, lifetime } = surroundings;
  const app = createApi({
    client: temporal.client,
    config: wanted.config,
    operatorToken: wanted.operatorToken,
    unsubscribeSecret: wanted.unsubscribeSecret,
    logger: surroundings.logger.child({ part: 'api' }),
    temporalReady: temporal.ready,
    searchAttributesReady: searchAttributes.ready,
  });
  const service = await serve(app, { host: wanted.host, port: wanted.port, variable: 'PORT' });
  lifetime.onStop('api server', service.stop);
  return service;
}
