import { Command } from 'commander';
import { createContext } from '../../programs/process/context.ts';
import { runService } from '../../programs/process/run-service.ts';

export function apiCommand(): Command {
  return new Command('api')
    .description('receive publish webhooks and show the state of the sites')
    .option('--no-config', 'run without a galley.yaml, and so without sites')
    .addHelpText(
      'after',
      '\nListens on HOST (127.0.0.1) and PORT (3000); reads galley.yaml (GALLEY_CONFIG). Waits for Temporal and answers\n' +
        '503 meanwhile. OPERATOR_TOKEN opens GET /sites. SIGINT and SIGTERM end it.',
    )
    .action(async (options: { config: boolean }) => {
      const { settings, logger } = createContext();
      const { loadGalleyConfig, requireConfigPath } = await import('../../programs/config/config.ts');
      const path = requireConfigPath(settings.configPath, options);
      const config = await loadGalleyConfig({ path, env: settings.variables });
      await runService(logger, async (lifetime) => {
        const { createSignInLinks } = await import('../../api/pages/sign-in-links.ts');
        const { startOrchestratorApi } = await import('../../programs/api.ts');
        const { registerSearchAttributes } = await import('../../programs/temporal/search-attributes.ts');
        const { openTemporal } = await import('../../programs/temporal/temporal.ts');
        const { startTracing } = await import('../../programs/tracing/tracing.ts');
        await startTracing(settings, 'api', lifetime);
        const temporal = await openTemporal({ settings, logger }, lifetime);
        const { client, namespace } = temporal;
        const searchAttributes = registerSearchAttributes({ client, namespace, logger, signal: lifetime.signal });
        const { operatorToken, unsubscribeSecret, temporalUiUrl, host, port } = settings;
        const api = await startOrchestratorApi(
          {
            ...{ config, operatorToken, unsubscribeSecret, temporalUiUrl, host, port },
            signInLinks: createSignInLinks(),
          },
          { temporal, searchAttributes, logger, lifetime },
        );
        return `api ${api.url}`;
      });
    });
}
