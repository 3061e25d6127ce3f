import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { ConfigurationError } from '../contract/configuration-error.ts';
import { agentTaskQueue, TASK_QUEUES } from '../contract/names.ts';
import { createAgentWorkflows } from '../platform/agent-workflows.ts';
import { createPlatformApi } from '../platform/api/create-platform-api.ts';
import { createSetupUrl } from '../platform/dashboard/first-administrator.ts';
import type { SendMail } from '../platform/dashboard/mail.ts';
import type { SitesPage } from '../platform/dashboard/sites-page.tsx';
import { createExportWorkflows } from '../platform/export-workflows.ts';
import { createForgeTasks, type ForgeTasks } from '../platform/forge/background-tasks.ts';
import { createReconciler } from '../platform/reconciler.ts';
import { migrateWhenReachable } from '../platform/store/migrate.ts';
import { openPlatformStore, type PlatformStore } from './parts/platform-store.ts';
import type { ProcessContext } from './process/context.ts';
import { openHome } from './process/home.ts';
import { type HttpService, pagesUrl, serve } from './process/serve.ts';
import { addQueueMetrics } from './temporal/queue-metrics.ts';
import { openTemporal, type Temporal } from './temporal/temporal.ts';
import { startTracing, tracing } from './tracing/tracing.ts';

interface Context extends ProcessContext {
  store: PlatformStore;
  temporal: Temporal;
  operatorToken: string | undefined;
  /** The sites page of the same `galley up`. */
  sitesPage?: SitesPage;
}

export interface PlatformService extends HttpService {
  /** As browsers use it. */
  publicUrl: string;
  /** Resolves when the database is available and migrated. */
  migrated: Promise<void>;
  /** Resolves with the first administrator's link; undefined if there are members, or no dashboard. */
  setupUrl: Promise<string | undefined>;
}

const MIGRATE_FIRST_MS = 1_000;

/** Runs the program `platform`. */
export async function startPlatformProcess(context: ProcessContext): Promise<PlatformService> {
  const { settings, logger, lifetime } = context;
  await startTracing(settings, 'platform', lifetime);
  const temporal = await openTemporal({ settings, logger }, lifetime);
  const store = await openPlatformStore({ ...context, home: openHome(settings.home) });
  return await startPlatform({ ...context, store, temporal, operatorToken: settings.operatorToken });
}

/** Serves the Admin API until the lifetime ends. Responds 503 while its database is unavailable. */
export async function startPlatform(context: Context): Promise<PlatformService> {
  const { settings, store, temporal, operatorToken, lifetime } = context;
  const logger = context.logger.child({ part: 'platform' });
  const workflows = createExportWorkflows({ client: temporal.client });
  const agentWorkflows = createAgentWorkflows({ client: temporal.client });
  let listeningUrl = '';
  const publicUrl = () => settings.platformPublicUrl ?? pagesUrl(listeningUrl);
  const forge = createForgeTasks({ db: store.db, publicUrl, logger });
  const app = withSettingsNamed(() =>
    createPlatformApi({
      ...store,
      startExport: workflows.start,
      cancelExport: workflows.cancel,
      startAgentJob: agentWorkflows.start,
      cancelAgentJob: agentWorkflows.cancel,
      agentModel: settings.agent.model,
      publicUrl,
      bundlesUrl: () => settings.platformPublicUrl ?? listeningUrl,
      bundleLinkTtlMs: settings.bundleLinkTtlMs,
      exportKeep: settings.exportKeep,
      ...(operatorToken === undefined ? {} : { operatorToken }),
      onForgeEvent: forge.wake,
      trustedProxies: settings.trustedProxies,
      openId: settings.openId,
      sitesPage: context.sitesPage,
      sendMail: settings.platformMail && createSendMail(settings.platformMail),
      stopped: lifetime.signal,
      metrics: queueMetrics(temporal),
      logger,
    }),
  );
  const { host, platformPort: port } = settings;
  const traced = tracing()?.server(app, { trusted: true }) ?? app;
  const migrated = migrateWhenReachable(store.db, { logger, signal: lifetime.signal });
  migrated.catch(lifetime.fail);
  // No request writes to the database of another build; one that is away is waited for while it serves.
  await Promise.race([migrated, sleep(MIGRATE_FIRST_MS, undefined, { ref: false })]);
  const local = { publicUrl: settings.platformPublicUrl, variable: 'PLATFORM_PUBLIC_URL' };
  const service = await serve(traced, { host, port, variable: 'PLATFORM_PORT', local });
  listeningUrl = service.url;
  lifetime.onStop('platform server', service.stop);
  migrated.then(
    () => {
      startReconciler(context, logger);
      startForge(context, forge);
    },
    () => undefined,
  );
  const setupUrl = operatorToken === undefined ? undefined : migrated.then(() => createSetupUrl(store.db, publicUrl()));
  return {
    ...service,
    publicUrl: publicUrl(),
    migrated,
    setupUrl: setupUrl?.catch(() => undefined) ?? Promise.resolve(undefined),
  };
}

const MAIL_TIMEOUT_MS = 10_000;

/** A connection for each mail: there are few. */
function createSendMail({ url, from }: { url: string; from: string }): SendMail {
  const timeouts = {
    connectionTimeout: MAIL_TIMEOUT_MS,
    greetingTimeout: MAIL_TIMEOUT_MS,
    socketTimeout: MAIL_TIMEOUT_MS,
  };
  const transport = createTransport({ url, ...timeouts }, { from });
  return async (mail) => {
    await transport.sendMail({ ...mail, headers: { 'Auto-Submitted': 'auto-generated' } });
  };
}

/** A registry with the platform's task queues. */
function queueMetrics({ client, namespace }: Temporal): Registry {
  const registry = new Registry();
  const { platform } = TASK_QUEUES;
  const queues = [
    { name: platform, types: ['workflow', 'activity'] },
    { name: agentTaskQueue(platform), types: ['activity'] },
  ] as const;
  addQueueMetrics(registry, { client, namespace, queues });
  return registry;
}

/** The API's process runs it, because it accepts the jobs; several reconcilers do no harm. */
function startReconciler({ store, temporal, lifetime }: Context, logger: Logger): void {
  if (lifetime.signal.aborted) return;
  const reconciler = createReconciler({
    db: store.db,
    objects: store.objects,
    temporalClient: temporal.client,
    logger,
  });
  reconciler.start();
  lifetime.onStop('reconciler', reconciler.stop);
}

function startForge({ lifetime }: Context, forge: ForgeTasks): void {
  if (lifetime.signal.aborted) return;
  forge.start();
  lifetime.onStop('embedded forge', forge.stop);
}

/** Translates the platform's option names into those of the variables. */
function withSettingsNamed<T>(create: () => T): T {
  try {
    return create();
  } catch (error) {
    throw error instanceof RangeError ? new ConfigurationError([error.message]) : error;
  }
}
