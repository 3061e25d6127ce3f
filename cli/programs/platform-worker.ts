import type { Logger } from 'pino';
import { createBrowserPool } from '../../platform/activities/export/browser/browser-pool.ts';
import { migrateWhenReachable } from '../../platform/store/migrate.ts';
import { createPlatformWorker } from '../../platform/worker.ts';
import type { Settings } from '../environment.ts';
import type { Home } from '../home.ts';
import type { Lifetime } from '../lifetime.ts';
import type { SearchAttributes } from '../search-attributes.ts';
import type { Temporal } from '../temporal.ts';
import { workflowBundle } from '../workflow-bundles.ts';
import { agentDepsOf, warnOfAgentTrouble } from './agents.ts';
import type { PlatformStore } from './platform-store.ts';
import { runWorker } from './run-worker.ts';

interface Surroundings {
  settings: Settings;
  home: Home;
  /** Where the platform's pages are, which pull requests of the embedded forge are named by. */
  publicUrl: string;
  store: PlatformStore;
  temporal: Temporal;
  searchAttributes: SearchAttributes;
  logger: Logger;
  lifetime: Lifetime;
}

/** Runs the platform's jobs until the lifetime ends. Waits for the database, then for Temporal; resolves when it polls. */
export async function startPlatformWorker(surroundings: Surroundings): Promise<void> {
  const { store, temporal, searchAttributes, lifetime } = surroundings;
  const logger = surroundings.logger.child({ part: 'platform worker' });
  const { settings } = surroundings;
  const agents = agentDepsOf({ ...surroundings, logger });
  await warnOfAgentTrouble(settings, logger);
  await migrateWhenReachable(store.db, { logger, signal: lifetime.signal });
  const browser = createBrowserPool({ ...settings.browser, logger });
  lifetime.onStop('browser', () => browser.close());
  const create: Parameters<typeof runWorker>[0]['create'] = async (connection) => {
    await searchAttributes.settled;
    return await createPlatformWorker({
      ...store,
      connection,
      namespace: temporal.namespace,
      dataConverter: temporal.dataConverter,
      workflowBundle: workflowBundle('platform'),
      searchAttributes: searchAttributes.ready(),
      agents,
      browser,
      ...(settings.exportConnections !== undefined && { limits: { maxConcurrency: settings.exportConnections } }),
      logger,
    });
  };
  await runWorker({ name: 'platform worker', create }, { temporal, logger, lifetime });
}
