import { Command } from 'commander';
import { createContext } from '../../programs/process/context.ts';
import { runService } from '../../programs/process/run-service.ts';

export function upCommand(): Command {
  return new Command('up')
    .description('start everything on this machine (npm start)')
    .addHelpText(
      'after',
      `
Temporal with its UI, the database, the platform (Admin API), the orchestrator and a deployment for each values file.
State is kept in GALLEY_HOME (.galley). What a variable names is used instead: TEMPORAL_ADDRESS, DATABASE_URL,
OBJECT_STORE_URL, and for the whole platform ADMIN_API_URL with ADMIN_API_KEY. Ports: PORT, PLATFORM_PORT,
DEPLOYMENT_PORT, TEMPORAL_PORT, TEMPORAL_UI_PORT (0: a free one). Without a galley.yaml it runs with no sites. Ctrl-C ends it.`,
    )
    .action(async () => {
      const { settings, logger } = createContext();
      await runService(logger, async (lifetime) => {
        const { prepare } = await import('../../programs/up/prepare.ts');
        const prepared = await prepare(settings, lifetime);
        const { installTemporalRuntime } = await import('../../programs/temporal/runtime.ts');
        const { startTracing } = await import('../../programs/tracing/tracing.ts');
        const { startEverything } = await import('../../programs/up.ts');
        const { startWorkerMetrics } = await import('../../programs/metrics/worker-metrics.ts');
        const metrics = await startWorkerMetrics(settings, lifetime);
        installTemporalRuntime(logger, metrics?.sdkAddress);
        await startTracing(settings, 'up', lifetime);
        const { addresses, config, signInUrl, setupUrl } = await startEverything(prepared, {
          settings,
          logger,
          lifetime,
        });
        const { describeReady } = await import('../describe-ready.ts');
        return describeReady({ addresses, config, signInUrl, setupUrl, settings, metricsUrl: metrics?.url });
      });
    });
}
