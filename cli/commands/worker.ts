import { Command } from 'commander';
import { createContext } from '../../programs/process/context.ts';
import { runService } from '../../programs/process/run-service.ts';

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
      const { loadGalleyConfig, requireConfigPath } = await import('../../programs/config/config.ts');
      const path = requireConfigPath(settings.configPath, options);
      const config = await loadGalleyConfig({ path, env: settings.variables });
      const { checkReviews } = await import('../../programs/config/check-reviews.ts');
      checkReviews(config, { ownPlatform: false });
      await runService(logger, async (lifetime) => {
        const { mailLinksOf } = await import('../../programs/parts/mail-links.ts');
        const { startOrchestratorWorker } = await import('../../programs/worker.ts');
        const { registerSearchAttributes } = await import('../../programs/temporal/search-attributes.ts');
        const { openTemporal } = await import('../../programs/temporal/temporal.ts');
        const { installTemporalRuntime } = await import('../../programs/temporal/runtime.ts');
        const { startTracing } = await import('../../programs/tracing/tracing.ts');
        const { metricsPart, startWorkerMetrics } = await import('../../programs/metrics/worker-metrics.ts');
        const metrics = await startWorkerMetrics(settings, lifetime);
        installTemporalRuntime(logger, metrics?.sdkAddress);
        await startTracing(settings, 'worker', lifetime);
        const temporal = await openTemporal({ settings, logger }, lifetime);
        const { client, namespace } = temporal;
        const searchAttributes = registerSearchAttributes({ client, namespace, logger, signal: lifetime.signal });
        const { minRefreshIntervalMs, heartbeatUrl, workerVersion: version } = settings;
        await startOrchestratorWorker(
          {
            ...{ config, minRefreshIntervalMs, heartbeatUrl, version },
            mailLinks: mailLinksOf(settings, config, logger),
            variables: settings.variables,
            bundleSigner: settings.bundleSigner,
            configPath: path,
            deploymentHost: options.deploymentHost,
          },
          { temporal, searchAttributes, logger, lifetime },
        );
        return `worker at ${temporal.address}${metricsPart()}`;
      });
    });
}
