import type { Logger } from 'pino';
import { startWorkerMetrics } from '../metrics/worker-metrics.ts';
import { type Home, openHome } from '../process/home.ts';
import type { Lifetime } from '../process/lifetime.ts';
import { listeningUrl } from '../process/serve.ts';
import type { Settings } from '../settings/environment.ts';
import { installTemporalRuntime } from '../temporal/runtime.ts';
import { openTemporal, type Temporal } from '../temporal/temporal.ts';
import { startTracing } from '../tracing/tracing.ts';
import { openPlatformStore, type PlatformStore } from './platform-store.ts';

/** What all workers of the platform need. */
export interface WorkerParts {
  settings: Settings;
  home: Home;
  /** The base URL of the platform's pages, for pull requests of the embedded forge. */
  publicUrl: string;
  store: PlatformStore;
  temporal: Temporal;
  logger: Logger;
  lifetime: Lifetime;
}

/**
 * Creates the parts from the variables; nothing is connected yet.
 * @param program its name in traces
 * @throws ConfigurationError if the database or the object store is missing or invalid.
 */
export async function openWorkerParts(
  { settings, logger }: Pick<WorkerParts, 'settings' | 'logger'>,
  lifetime: Lifetime,
  program: string,
): Promise<WorkerParts> {
  const metrics = await startWorkerMetrics(settings, lifetime);
  installTemporalRuntime(logger, metrics?.sdkAddress);
  await startTracing(settings, program, lifetime);
  const temporal = await openTemporal({ settings, logger }, lifetime);
  const home = openHome(settings.home);
  const store = await openPlatformStore({ settings, home, logger, lifetime });
  const { host, platformPort: port } = settings;
  const publicUrl = settings.platformPublicUrl ?? listeningUrl({ host, port });
  return { settings, home, publicUrl, store, temporal, logger, lifetime };
}
