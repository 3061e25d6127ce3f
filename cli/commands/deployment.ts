import { resolve } from 'node:path';
import { Command } from 'commander';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { createContext } from '../context.ts';
import { openHome } from '../home.ts';
import type { DeployedSite } from '../programs/deployment.ts';
import { runService } from '../run-service.ts';

export function deploymentCommand(): Command {
  return new Command('deployment')
    .description('serve the bundle that a values file names and follow the file')
    .requiredOption(
      '--values <file>',
      'the values file with the staticExport group; HOST=FILE, several times, serves several sites by host name',
      (written: string, before: readonly string[]) => [...before, written],
      [],
    )
    .addHelpText(
      'after',
      '\nListens on HOST (127.0.0.1) and DEPLOYMENT_PORT (3200); keeps versions under GALLEY_HOME (.galley).\n' +
        'BASE_PATH, BASIC_AUTH and ACCESS_LOG change how it serves.\n' +
        'GET /-/status shows what is served. SIGINT and SIGTERM end it.',
    )
    .action(async ({ values }: { values: readonly string[] }) => {
      const { settings, logger } = createContext();
      const sites = readSites(values);
      await runService(logger, async (lifetime) => {
        const { startDeployment } = await import('../programs/deployment.ts');
        const { url } = await startDeployment(
          { sites, serving: settings.serving, host: settings.host, port: settings.deploymentPort },
          { home: openHome(settings.home), logger, lifetime },
        );
        return `deployment ${url}`;
      });
    });
}

/**
 * Reads `FILE` and `HOST=FILE`.
 * @throws ConfigurationError if a host name or a file is named twice
 */
function readSites(values: readonly string[]): DeployedSite[] {
  const sites = values.map((written) => {
    const [, host, file] = /^([\w.-]+)=(.+)$/.exec(written) ?? [undefined, undefined, written];
    return { host: host?.toLowerCase(), valuesFile: resolve(file ?? written) };
  });
  if (sites.length === 0) throw new ConfigurationError(['--values: expected a file']);
  for (const [index, { host, valuesFile }] of sites.entries()) {
    const earlier = sites.slice(0, index);
    if (earlier.some((each) => each.host === host)) {
      throw new ConfigurationError([`--values: ${host ?? 'a file without a host name'} stands twice`]);
    }
    if (earlier.some((each) => each.valuesFile === valuesFile)) {
      throw new ConfigurationError([`--values: ${valuesFile} stands twice; each site needs its own file`]);
    }
  }
  return sites;
}
