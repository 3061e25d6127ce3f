import type { Logger } from 'pino';
import { localValuesFiles } from '../../contract/deployment-config.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { WorkerVersion } from '../../contract/worker-version.ts';
import { ensureWatchdogEventually } from '../../worker/watchdog-schedule.ts';
import { createNotificationWorker, createOrchestratorWorker } from '../../worker/worker.ts';
import type { Lifetime } from '../lifetime.ts';
import type { SearchAttributes } from '../search-attributes.ts';
import type { Temporal } from '../temporal.ts';
import { tracing } from '../tracing.ts';
import { workflowBundle } from '../workflow-bundles.ts';
import { forgeReaderOf } from './forges.ts';
import type { MailLinks } from './mail-links.ts';
import { runWorker } from './run-worker.ts';

interface Options {
  config: GalleyConfig;
  minRefreshIntervalMs: number;
  mailLinks: MailLinks;
  heartbeatUrl: string | undefined;
  version?: WorkerVersion | undefined;
}

interface Context {
  temporal: Temporal;
  searchAttributes: SearchAttributes;
  logger: Logger;
  lifetime: Lifetime;
}

/**
 * Runs all workflows and activities of the orchestrator until the lifetime ends. Resolves when it polls.
 * @throws ConfigurationError if the forge of galley.yaml is unusable.
 */
export async function startOrchestratorWorker(options: Options, context: Context): Promise<void> {
  const { temporal, searchAttributes, lifetime } = context;
  const { config, minRefreshIntervalMs, mailLinks, heartbeatUrl, version } = options;
  const logger = context.logger.child({ part: 'worker' });
  const forge = forgeReaderOf(config.forge, logger);
  const create: Parameters<typeof runWorker>[0]['create'] = async (connection) => {
    // Temporal responds by now; whether it accepts the search attributes is known shortly after.
    await searchAttributes.settled;
    return await createOrchestratorWorker({
      connection,
      client: temporal.client,
      namespace: temporal.namespace,
      dataConverter: temporal.dataConverter,
      workflowBundle: workflowBundle('orchestrator', temporal.dataConverter),
      readSite: (site) => (Object.hasOwn(config.sites, site) ? config.sites[site] : undefined),
      deployments: Object.entries(config.sites).flatMap(
        ([
          site,
          {
            export: { deployments },
          },
        ]) => localValuesFiles(deployments).map((valuesFile) => ({ site, valuesFile })),
      ),
      adminApi: config.adminApi,
      minRefreshIntervalMs,
      smtp: config.smtp,
      operators: config.operators,
      notify: config.notify,
      heartbeatUrl,
      forge,
      ...mailLinks,
      searchAttributes: searchAttributes.ready(),
      version,
      tracing: tracing()?.worker,
      logger,
    });
  };
  tracing()?.propagateTo(config.adminApi.url);
  const createNotifications: typeof create = (connection) => {
    const { namespace, dataConverter } = temporal;
    const { publicUrl } = mailLinks;
    return createNotificationWorker({
      connection,
      namespace,
      dataConverter,
      notify: config.notify,
      publicUrl,
      version,
      tracing: tracing()?.worker,
      logger,
    });
  };
  await Promise.all([
    runWorker({ name: 'orchestrator worker', create }, { temporal, logger, lifetime }),
    runWorker({ name: 'notification worker', create: createNotifications }, { temporal, logger, lifetime }),
  ]);
  const isWatched = config.operators.length > 0 || heartbeatUrl !== undefined;
  if (isWatched) void ensureWatchdogEventually(temporal, { logger, signal: lifetime.signal });
}
