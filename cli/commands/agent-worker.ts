import { Command } from 'commander';
import { createContext } from '../../programs/process/context.ts';
import { runService } from '../../programs/process/lifetime.ts';
import { requireDatabaseUrl } from '../../programs/settings/platform.ts';

export function agentWorkerCommand(): Command {
  return new Command('agent-worker')
    .description("run the Admin API's agents, beside platform-worker --no-agents")
    .addHelpText(
      'after',
      '\nIt only fetches a repository, runs the agent in its sandbox and stores the result, so it can have a\n' +
        'machine or container of its own, with fewer secrets. Needs DATABASE_URL, and the OBJECT_STORE_URL of the platform.\n' +
        'Waits for the database and for Temporal. Any number may run. SIGINT and SIGTERM end it.',
    )
    .action(async () => {
      const context = createContext();
      requireDatabaseUrl(context.settings);
      await runService(context, async (lifetime) => {
        const { startAgentWorker } = await import('../../programs/agent-worker.ts');
        const { metricsPart } = await import('../../programs/temporal/worker-metrics.ts');
        const address = await startAgentWorker({ ...context, lifetime });
        return `agent-worker at ${address}${metricsPart()}`;
      });
    });
}
