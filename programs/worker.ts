import type { Logger } from 'pino';
import { localValuesFiles } from '../contract/deployment-config.ts';
import { type GalleyConfig, siteNamed } from '../contract/galley-config.ts';
import { createDeploymentWorker, createNotificationWorker, createOrchestratorWorker } from '../worker/worker.ts';
import { forgeReaderOf } from './parts/forges.ts';
import { targetDeps } from './parts/target-deps.ts';
import type { ProcessContext } from './process/context.ts';
import type { Lifetime } from './process/lifetime.ts';
import type { Settings } from './settings/environment.ts';
import { runWorker } from './temporal/run-worker.ts';
import { startWorkerRuntime } from './temporal/runtime.ts';
import { keepSchedule, WATCHDOG } from './temporal/schedules.ts';
import { registerSearchAttributes, type SearchAttributes } from './temporal/search-attributes.ts';
import { openTemporal, type Temporal } from './temporal/temporal.ts';
import { workflowBundle } from './temporal/workflow-bundles.ts';
import { tracing } from './tracing/tracing.ts';

interface Options {
  config: GalleyConfig;
  settings: Settings;
  /** The name of this machine in galley.yaml, if this worker writes its files. */
  deploymentHost?: string | undefined;
}

interface Context {
  temporal: Temporal;
  searchAttributes: SearchAttributes;
  logger: Logger;
  lifetime: Lifetime;
}

/** Runs the program `worker`. Resolves when it polls, with Temporal's address. */
export async function startWorkerProcess(options: Omit<Options, 'settings'>, context: ProcessContext): Promise<string> {
  const { settings, logger, lifetime } = context;
  await startWorkerRuntime('worker', context);
  const temporal = await openTemporal({ settings, logger }, lifetime);
  const searchAttributes = registerSearchAttributes({ ...temporal, logger, signal: lifetime.signal });
  await startWorker({ ...options, settings }, { temporal, searchAttributes, logger, lifetime });
  return temporal.address;
}

/**
 * Runs all workflows and activities of the orchestrator until the lifetime ends. Resolves when it polls.
 * @throws ConfigurationError if the forge of galley.yaml is unusable.
 */
export async function startWorker(options: Options, context: Context): Promise<void> {
  const { temporal, searchAttributes, lifetime } = context;
  const { config, settings, deploymentHost } = options;
  const { minRefreshIntervalMs, heartbeatUrl } = settings;
  const mailLinks = mailLinksOf(settings, config, context.logger);
  const logger = context.logger.child({ part: 'worker' });
  const forge = forgeReaderOf(config.forge, logger);
  const targets = targetDeps({ ...settings, config }, logger);
  const readSite = (site: string) => siteNamed(config, site);
  const { client, namespace, dataConverter } = temporal;
  const shared = { namespace, dataConverter, version: settings.workerVersion, tracing: tracing()?.worker, logger };
  const create: Parameters<typeof runWorker>[0]['create'] = async (connection) => {
    // Temporal responds by now; whether it accepts the search attributes is known shortly after.
    await searchAttributes.settled();
    return await createOrchestratorWorker({
      ...shared,
      connection,
      client,
      workflowBundle: workflowBundle('orchestrator', dataConverter),
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
    });
  };
  tracing()?.propagateTo(config.adminApi.url);
  const createNotifications: typeof create = (connection) =>
    createNotificationWorker({ ...shared, connection, notify: config.notify, publicUrl: mailLinks.publicUrl });
  const createDeployments: typeof create = (connection) =>
    createDeploymentWorker({ ...shared, connection, readSite, targets, host: deploymentHost ?? '' });
  await Promise.all([
    runWorker({ name: 'orchestrator worker', create }, { temporal, logger, lifetime }),
    deploymentHost !== undefined &&
      runWorker({ name: 'deployment worker', create: createDeployments }, { temporal, logger, lifetime }),
    runWorker({ name: 'notification worker', create: createNotifications }, { temporal, logger, lifetime }),
  ]);
  const isWatched = config.operators.length > 0 || heartbeatUrl !== undefined;
  if (isWatched) void keepSchedule(WATCHDOG, { client, logger, signal: lifetime.signal });
}

interface MailLinks {
  /** The receiver's public URL; undefined: mails have no unsubscribe link. */
  publicUrl: string | undefined;
  /** Signs unsubscribe links. */
  unsubscribeKey: string;
}

/**
 * Settings of unsubscribe links. Logs once at start what is missing: without API_PUBLIC_URL there are no links, without
 * UNSUBSCRIBE_SECRET the Admin API key signs them.
 */
export function mailLinksOf(
  { apiPublicUrl, unsubscribeSecret }: Pick<Settings, 'apiPublicUrl' | 'unsubscribeSecret'>,
  config: Pick<GalleyConfig, 'adminApi' | 'smtp' | 'sites'>,
  logger: Logger,
): MailLinks {
  const writesToReviewers =
    config.smtp !== undefined && Object.values(config.sites).some(({ agent }) => agent.length > 0);
  if (writesToReviewers && apiPublicUrl === undefined) {
    logger.info('API_PUBLIC_URL is not set: mails have no unsubscribe link');
  } else if (writesToReviewers && unsubscribeSecret === undefined) {
    logger.warn(
      'UNSUBSCRIBE_SECRET is not set: the Admin API key signs unsubscribe links, which become invalid when it changes',
    );
  }
  return { publicUrl: apiPublicUrl, unsubscribeKey: unsubscribeSecret ?? config.adminApi.key };
}
