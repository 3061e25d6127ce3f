import type { Logger } from 'pino';
import { localValuesFiles } from '../contract/deployment-config.ts';
import { type GalleyConfig, siteNamed } from '../contract/galley-config.ts';
import type { BundleSigner } from '../contract/signing.ts';
import type { WorkerVersion } from '../contract/worker-version.ts';
import { ensureWatchdogEventually } from '../worker/watchdog-schedule.ts';
import { createDeploymentWorker, createNotificationWorker, createOrchestratorWorker } from '../worker/worker.ts';
import { forgeReaderOf } from './parts/forges.ts';
import type { MailLinks } from './parts/mail-links.ts';
import { targetDeps } from './parts/target-deps.ts';
import type { Lifetime } from './process/lifetime.ts';
import type { Settings } from './settings/environment.ts';
import { runWorker } from './temporal/run-worker.ts';
import type { SearchAttributes } from './temporal/search-attributes.ts';
import type { Temporal } from './temporal/temporal.ts';
import { workflowBundle } from './temporal/workflow-bundles.ts';
import { tracing } from './tracing/tracing.ts';

interface Options {
  config: GalleyConfig;
  minRefreshIntervalMs: number;
  mailLinks: MailLinks;
  heartbeatUrl: string | undefined;
  /** The process's variables, of which git gets some. */
  variables: Settings['variables'];
  /** Signs transfer folders of air-gapped deployments. */
  bundleSigner: BundleSigner | undefined;
  /** The path of galley.yaml. */
  configPath: string | undefined;
  /** The name of this machine in galley.yaml, if this worker writes its files. */
  deploymentHost?: string | undefined;
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
  const { config, minRefreshIntervalMs, mailLinks, heartbeatUrl, deploymentHost, version } = options;
  const logger = context.logger.child({ part: 'worker' });
  const forge = forgeReaderOf(config.forge, logger);
  const targets = targetDeps(options, logger);
  const readSite = (site: string) => siteNamed(config, site);
  const create: Parameters<typeof runWorker>[0]['create'] = async (connection) => {
    // Temporal responds by now; whether it accepts the search attributes is known shortly after.
    await searchAttributes.settled;
    return await createOrchestratorWorker({
      connection,
      client: temporal.client,
      namespace: temporal.namespace,
      dataConverter: temporal.dataConverter,
      workflowBundle: workflowBundle('orchestrator', temporal.dataConverter),
      readSite,
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
      targets,
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
  const createDeployments: typeof create = (connection) => {
    const { namespace, dataConverter } = temporal;
    const shared = { connection, namespace, dataConverter, version, tracing: tracing()?.worker, logger };
    return createDeploymentWorker({ ...shared, readSite, targets, host: deploymentHost ?? '' });
  };
  await Promise.all([
    runWorker({ name: 'orchestrator worker', create }, { temporal, logger, lifetime }),
    deploymentHost !== undefined &&
      runWorker({ name: 'deployment worker', create: createDeployments }, { temporal, logger, lifetime }),
    runWorker({ name: 'notification worker', create: createNotifications }, { temporal, logger, lifetime }),
  ]);
  const isWatched = config.operators.length > 0 || heartbeatUrl !== undefined;
  if (isWatched) void ensureWatchdogEventually(temporal, { logger, signal: lifetime.signal });
}
