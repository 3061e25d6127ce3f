import { Command } from 'commander';
import { createContext } from '../../programs/process/context.ts';
import { keepHeapSmall } from '../../programs/process/heap-growth.ts';
import { runService } from '../../programs/process/run-service.ts';
import { requireDatabaseUrl } from '../../programs/settings/require-database-url.ts';

export function platformWorkerCommand(): Command {
  return new Command('platform-worker')
    .description("run the Admin API's jobs: export sites and run agents")
    .option('--no-agents', 'leave agents to agent-worker; the steps around them still run here')
    .addHelpText(
      'after',
      '\nNeeds DATABASE_URL, and the OBJECT_STORE_URL of the platform. Waits for the database and for Temporal as long as\n' +
        'it takes. Any number may run and share the crawl. SIGINT and SIGTERM end it.',
    )
    .action(async ({ agents }: { agents: boolean }) => {
      keepHeapSmall();
      const context = createContext();
      requireDatabaseUrl(context.settings);
      await runService(context.logger, async (lifetime) => {
        const { startPlatformWorker } = await import('../../programs/platform-worker.ts');
        const { openWorkerParts } = await import('../../programs/parts/worker-parts.ts');
        const { metricsPart } = await import('../../programs/metrics/worker-metrics.ts');
        const { registerSearchAttributes } = await import('../../programs/temporal/search-attributes.ts');
        const parts = await openWorkerParts(context, lifetime, 'platform-worker');
        const { client, namespace, address } = parts.temporal;
        const { signal } = lifetime;
        const searchAttributes = registerSearchAttributes({ client, namespace, logger: context.logger, signal });
        await startPlatformWorker({ ...parts, searchAttributes, runsAgents: agents });
        return `platform-worker at ${address}${metricsPart()}`;
      });
    });
}
