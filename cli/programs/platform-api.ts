import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { TASK_QUEUES, WORKFLOW_TYPES } from '../../contract/names.ts';
import { createPlatformApi } from '../../platform/api/create-platform-api.ts';
import { migrateWhenReachable } from '../../platform/store/migrate.ts';
import type { Settings } from '../environment.ts';
import type { Lifetime } from '../lifetime.ts';
import { type HttpService, serve } from '../serve.ts';
import type { Temporal } from '../temporal.ts';
import type { PlatformStore } from './platform-store.ts';

interface Surroundings {
  settings: Settings;
  store: PlatformStore;
  temporal: Temporal;
  operatorToken: string | undefined;
  logger: Logger;
  lifetime: Lifetime;
}

export interface PlatformService extends HttpService {
  /** Resolves when the database is there and its migrations have run. */
  migrated: Promise<void>;
}

/** Serves the Admin API until the lifetime ends. Answers 503 while its database is away. */
export async function startPlatformApi(surroundings: Surroundings): Promise<PlatformService> {
  const { settings, store, operatorToken, lifetime } = surroundings;
  const logger = surroundings.logger.child({ part: 'platform' });
  let listeningUrl = '';
  const app = withSettingsNamed(() =>
    createPlatformApi({
      ...store,
      ...exportJobs(surroundings.temporal),
      publicUrl: () => settings.platformPublicUrl ?? listeningUrl,
      bundleLinkTtlMs: settings.bundleLinkTtlMs,
      ...(operatorToken === undefined ? {} : { operatorToken }),
      logger,
    }),
  );
  const { host, platformPort: port } = settings;
  const service = await serve(app, { host, port, variable: 'PLATFORM_PORT' });
  listeningUrl = service.url;
  lifetime.onStop('platform server', service.stop);
  const migrated = migrateWhenReachable(store.db, { logger, signal: lifetime.signal });
  migrated.catch((error: Error) => lifetime.fail(error));
  return { ...service, migrated };
}

/** The platform speaks of its options; here they are variables. */
function withSettingsNamed<T>(create: () => T): T {
  try {
    return create();
  } catch (error) {
    throw error instanceof RangeError ? new ConfigurationError([error.message]) : error;
  }
}

/** A job's workflow has the job's id, so a second start of one finds the first. */
function exportJobs({ client }: Temporal): {
  startExport(jobId: string): Promise<void>;
  cancelExport(jobId: string): Promise<void>;
} {
  return {
    startExport: async (jobId) => {
      try {
        await client.workflow.start(WORKFLOW_TYPES.staticExportJob, {
          workflowId: jobId,
          taskQueue: TASK_QUEUES.platform,
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          args: [{ jobId }],
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    cancelExport: async (jobId) => {
      try {
        await client.workflow.getHandle(jobId).cancel();
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
  };
}
