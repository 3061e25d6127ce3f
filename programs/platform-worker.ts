import { createComputing } from '../exporter/processes/computing.ts';
import { BrowserPool } from '../exporter/render/browser-pool.ts';
import { migrateWhenReachable } from '../platform/store/migrate.ts';
import { createPlatformWorker } from '../platform/worker.ts';
import { createProver } from '../proof/create-prover.ts';
import { agentDepsOf, warnAboutAgentCommand } from './parts/agents.ts';
import { openWorkerParts, type WorkerParts } from './parts/worker-parts.ts';
import type { ProcessContext } from './process/context.ts';
import { runWorker } from './temporal/run-worker.ts';
import { GARBAGE_COLLECTION, keepSchedule } from './temporal/schedules.ts';
import { registerSearchAttributes, type SearchAttributes } from './temporal/search-attributes.ts';
import { workflowBundle } from './temporal/workflow-bundles.ts';
import { tracing } from './tracing/tracing.ts';

interface Context extends WorkerParts {
  searchAttributes: SearchAttributes;
  /** False: `agent-worker` runs them. */
  runsAgents?: boolean;
  /** Other programs run in this process, so no document is read in it. */
  isShared?: boolean;
}

/** Runs the program `platform-worker`. Resolves when it polls, with Temporal's address. */
export async function startPlatformWorkerProcess(runsAgents: boolean, context: ProcessContext): Promise<string> {
  const parts = await openWorkerParts('platform-worker', context);
  const { temporal, logger, lifetime } = parts;
  const searchAttributes = registerSearchAttributes({ ...temporal, logger, signal: lifetime.signal });
  await startPlatformWorker({ ...parts, searchAttributes, runsAgents });
  return temporal.address;
}

/**
 * Runs the platform's jobs until the lifetime ends. Waits for the database, then for Temporal; resolves when it polls.
 */
export async function startPlatformWorker(context: Context): Promise<void> {
  const { store, temporal, searchAttributes, lifetime, runsAgents = true, isShared = false } = context;
  const logger = context.logger.child({ part: 'platform worker' });
  const { settings } = context;
  const agents = agentDepsOf({ ...context, logger });
  if (runsAgents) await warnAboutAgentCommand(settings, logger);
  await migrateWhenReachable(store.db, { logger, signal: lifetime.signal });
  const browser = new BrowserPool({ ...settings.browser, logger });
  lifetime.onStop('browser', () => browser.close());
  const create: Parameters<typeof runWorker>[0]['create'] = async (connection) => {
    await searchAttributes.settled();
    return await createPlatformWorker({
      ...store,
      connection,
      namespace: temporal.namespace,
      dataConverter: temporal.dataConverter,
      workflowBundle: workflowBundle('platform', temporal.dataConverter),
      searchAttributes: searchAttributes.ready(),
      version: settings.workerVersion,
      tracing: tracing()?.worker,
      agents,
      runsAgents,
      browser,
      prover: createProver(settings.browser),
      limits: settings.exportLimits,
      signer: settings.bundleSigner,
      computing: isShared ? createComputing({ allApart: true, keepsOne: true }) : undefined,
      exportKeep: settings.exportKeep,
      logger,
    });
  };
  await runWorker({ name: 'platform worker', create }, { temporal, logger, lifetime });
  void keepSchedule(GARBAGE_COLLECTION, { client: temporal.client, logger, signal: lifetime.signal });
}
