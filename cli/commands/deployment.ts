import { resolve } from 'node:path';
import { Command } from 'commander';
import { createContext } from '../context.ts';
import { openHome } from '../home.ts';
import { runService } from '../run-service.ts';

export function deploymentCommand(): Command {
  return new Command('deployment')
    .description('serve the bundle that a values file names and follow the file')
    .requiredOption('--values <file>', 'the values file with the staticExport group')
    .addHelpText(
      'after',
      '\nListens on HOST (127.0.0.1) and DEPLOYMENT_PORT (3200); keeps versions under GALLEY_HOME (.galley).\n' +
        'GET /-/status shows what is served. SIGINT and SIGTERM end it.',
    )
    .action(async ({ values }: { values: string }) => {
      const { settings, logger } = createContext();
      await runService(logger, async (lifetime) => {
        const { startDeployment } = await import('../programs/deployment.ts');
        const { url } = await startDeployment(
          { valuesFile: resolve(values), host: settings.host, port: settings.deploymentPort },
          { home: openHome(settings.home), logger, lifetime },
        );
        return `deployment ${url}`;
      });
    });
}
