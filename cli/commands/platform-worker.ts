import { Command } from 'commander';
import { createContext } from '../../programs/process/context.ts';
import { keepHeapSmall } from '../../programs/process/heap-growth.ts';
import { runService } from '../../programs/process/lifetime.ts';
import { requireDatabaseUrl } from '../../programs/settings/platform.ts';

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
      await runService(context, async (lifetime) => {
        const { startPlatformWorkerProcess } = await import('../../programs/platform-worker.ts');
        const { metricsPart } = await import('../../programs/temporal/worker-metrics.ts');
        const address = await startPlatformWorkerProcess(agents, { ...context, lifetime });
        return `platform-worker at ${address}${metricsPart()}`;
      });
    });
}
