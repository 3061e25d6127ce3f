import { migrateWhenReachable } from '../platform/store/migrate.ts';
import { createAgentWorker } from '../platform/worker.ts';
import { agentDepsOf, requireSandbox, warnAboutAgentCommand } from './parts/agents.ts';
import { openWorkerParts } from './parts/worker-parts.ts';
import type { ProcessContext } from './process/context.ts';
import { runWorker } from './temporal/run-worker.ts';
import { tracing } from './tracing/tracing.ts';

/**
 * Runs agents until the lifetime ends. Waits for the database, then for Temporal; resolves when it polls, with Temporal's
 * address.
 */
export async function startAgentWorker(context: ProcessContext): Promise<string> {
  const parts = await openWorkerParts('agent-worker', context);
  const { settings, store, temporal, lifetime } = parts;
  const logger = parts.logger.child({ part: 'agent worker' });
  const agents = agentDepsOf({ ...parts, logger });
  await requireSandbox(settings);
  await warnAboutAgentCommand(settings, logger);
  await migrateWhenReachable(store.db, { logger, signal: lifetime.signal });
  const { namespace, dataConverter } = temporal;
  const create: Parameters<typeof runWorker>[0]['create'] = async (connection) =>
    await createAgentWorker({
      ...store,
      connection,
      namespace,
      dataConverter,
      agents,
      version: settings.workerVersion,
      tracing: tracing()?.worker,
      logger,
    });
  await runWorker({ name: 'agent worker', create }, { temporal, logger, lifetime });
  return temporal.address;
}
