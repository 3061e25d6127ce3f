import { Command } from 'commander';
import { createContext } from '../../programs/process/context.ts';
import { runService } from '../../programs/process/lifetime.ts';

export function workerCommand(): Command {
  return new Command('worker')
    .description("run the sites' workflows: export, deploy, refresh, prompt agents and notify reviewers")
    .option('--deployment-host <name>', 'also write the deployments whose host in galley.yaml is this name')
    .option('--no-config', 'run without a galley.yaml, and so without sites')
    .addHelpText(
      'after',
      '\nReads galley.yaml (GALLEY_CONFIG); waits for Temporal. Any number may run. SIGINT and SIGTERM\n' + 'end it.',
    )
    .action(async (options: { config: boolean; deploymentHost?: string }) => {
      const { settings, logger } = createContext();
      const { loadGalleyConfig, requireConfigPath } = await import('../../programs/config/galley-yaml.ts');
      const path = requireConfigPath(settings.configPath, options);
      const config = await loadGalleyConfig({ path, env: settings.variables });
      const { checkReviews } = await import('../../programs/config/check-configuration.ts');
      checkReviews(config, { ownPlatform: false });
      await runService({ settings, logger }, async (lifetime) => {
        const { startWorkerProcess } = await import('../../programs/worker.ts');
        const { metricsPart } = await import('../../programs/temporal/worker-metrics.ts');
        const { deploymentHost } = options;
        const address = await startWorkerProcess({ config, deploymentHost }, { settings, logger, lifetime });
        return `worker at ${address}${metricsPart()}`;
      });
    });
}
