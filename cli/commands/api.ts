import { Command } from 'commander';
import { createContext } from '../../programs/process/context.ts';
import { runService } from '../../programs/process/lifetime.ts';

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
      const { loadGalleyConfig, requireConfigPath } = await import('../../programs/config/galley-yaml.ts');
      const path = requireConfigPath(settings.configPath, options);
      const config = await loadGalleyConfig({ path, env: settings.variables });
      await runService({ settings, logger }, async (lifetime) => {
        const { startApiProcess } = await import('../../programs/api.ts');
        const api = await startApiProcess(config, { settings, logger, lifetime });
        return `api ${api.url}`;
      });
    });
}
