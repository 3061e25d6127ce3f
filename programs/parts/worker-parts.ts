import type { ProcessContext } from '../process/context.ts';
import { type Home, openHome } from '../process/home.ts';
import { platformPagesUrl } from '../process/serve.ts';
import { startWorkerRuntime } from '../temporal/runtime.ts';
import { openTemporal, type Temporal } from '../temporal/temporal.ts';
import { openPlatformStore, type PlatformStore } from './platform-store.ts';

/** What all workers of the platform need. */
export interface WorkerParts extends ProcessContext {
  home: Home;
  /** The base URL of the platform's pages, for pull requests of the embedded forge. */
  publicUrl: string;
  store: PlatformStore;
  temporal: Temporal;
}

/**
 * Creates the parts from the variables; nothing is connected yet.
 * @param program its name in traces
 * @throws ConfigurationError if the database or the object store is missing or invalid.
 */
export async function openWorkerParts(program: string, context: ProcessContext): Promise<WorkerParts> {
  const { settings, logger, lifetime } = context;
  await startWorkerRuntime(program, context);
  const temporal = await openTemporal({ settings, logger }, lifetime);
  const home = openHome(settings.home);
  const store = await openPlatformStore({ settings, home, logger, lifetime });
  return { ...context, home, publicUrl: platformPagesUrl(settings), store, temporal };
}
