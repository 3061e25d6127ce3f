import { Command } from 'commander';
import { loadGalleyConfig } from '../config.ts';
import { createContext } from '../context.ts';
import { startOrchestratorWorker } from '../programs/orchestrator-worker.ts';
import { runService } from '../run-service.ts';
import { registerSearchAttributes } from '../search-attributes.ts';
import { openTemporal } from '../temporal.ts';
import { installTemporalRuntime } from '../temporal-runtime.ts';

export function workerCommand(): Command {
  return new Command('worker')
    .description("run the sites' workflows: export, deploy, refresh")
    .addHelpText(
      'after',
      '\nReads galley.yaml (GALLEY_CONFIG); waits for Temporal as long as it takes. Any number may run. SIGINT and SIGTERM\n' +
        'end it.',
    )
    .action(async () => {
      const { settings, logger } = createContext();
      const config = await loadGalleyConfig({ path: settings.configPath, env: settings.variables });
      installTemporalRuntime(logger);
      await runService(logger, async (lifetime) => {
        const temporal = openTemporal({ settings, logger }, lifetime);
        const { client, namespace } = temporal;
        const searchAttributes = registerSearchAttributes({ client, namespace, logger, signal: lifetime.signal });
        const { minRefreshIntervalMs } = settings;
        await startOrchestratorWorker(
          { config, minRefreshIntervalMs },
          { temporal, searchAttributes, logger, lifetime },
        );
        return `worker at ${temporal.address}`;
      });
    });
}
