import type { Logger } from 'pino';
import type { Settings } from '../environment.ts';
import { type Home, openHome } from '../home.ts';
import type { Lifetime } from '../lifetime.ts';
import { listeningUrl } from '../serve.ts';
import { openTemporal, type Temporal } from '../temporal.ts';
import { installTemporalRuntime } from '../temporal-runtime.ts';
import { openPlatformStore, type PlatformStore } from './platform-store.ts';

/** What every worker of the platform stands on. */
export interface WorkerParts {
  settings: Settings;
  home: Home;
  /** Where the platform's pages are, which pull requests of the embedded forge are named by. */
  publicUrl: string;
  store: PlatformStore;
  temporal: Temporal;
  logger: Logger;
  lifetime: Lifetime;
}

/**
 * Opens it as the variables say; nothing is connected yet.
 * @throws ConfigurationError where the database or the object store is missing or wrong.
 */
export async function openWorkerParts(
  { settings, logger }: Pick<WorkerParts, 'settings' | 'logger'>,
  lifetime: Lifetime,
): Promise<WorkerParts> {
  installTemporalRuntime(logger);
  const temporal = openTemporal({ settings, logger }, lifetime);
  const home = openHome(settings.home);
  const store = await openPlatformStore({ settings, home, logger, lifetime });
  const { host, platformPort: port } = settings;
  const publicUrl = settings.platformPublicUrl ?? listeningUrl({ host, port });
  return { settings, home, publicUrl, store, temporal, logger, lifetime };
}
