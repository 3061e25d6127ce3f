import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { errorCode } from '../../base/error-code.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import type { DeployedSite } from '../../programs/deployment.ts';
import { createContext } from '../../programs/process/context.ts';
import { deploymentFolder, openHome } from '../../programs/process/home.ts';
import { runService } from '../../programs/process/lifetime.ts';
import { UsageError } from '../command-error.ts';
import type { Imported } from '../deployment/import-folder.ts';
import { printJson } from '../output.ts';

export function deploymentCommand(): Command {
  return new Command('deployment')
    .description('serve the bundle that a values file names and follow the file')
    .addCommand(importCommand())
    .option(
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
      await runService({ settings, logger }, async (lifetime) => {
        const { startDeployment } = await import('../../programs/deployment.ts');
        const { deleteUnlisted } = await import('../../programs/process/unlisted-deployments.ts');
        const context = { home: openHome(settings.home), logger, lifetime };
        const { url } = await startDeployment(
          { sites, serving: settings.serving, host: settings.host, port: settings.deploymentPort },
          context,
        );
        await deleteUnlisted(
          sites.map(({ valuesFile }) => valuesFile),
          context,
        );
        return `deployment ${url}`;
      });
    });
}

type ImportOptions = { values: string; allowOlder?: boolean; json?: boolean };

function importCommand(): Command {
  return new Command('import')
    .argument('<folder>', 'the transfer folder (bundle.tar.gz, values.yaml, SHA256SUMS), or the one above it')
    .requiredOption('--values <file>', 'the values file of the deployment that is to serve the bundle')
    .option('--allow-older', 'also import a bundle that is older than the one served or linked')
    .option('--json', 'print what was imported as JSON')
    .description('verify a transfer folder and serve its bundle')
    .addHelpText(
      'after',
      '\nCopies the bundle to a folder in bundles/ beside the values file, and links to it there. If the file sets\n' +
        'staticExport.publicKey, the folder and the bundle must be signed for it. A bundle is refused that is older than\n' +
        'the one linked, or the one that the deployment serves, which is read from its GALLEY_HOME (.galley).',
    )
    .action(async (folder: string, { values, allowOlder = false, json = false }: ImportOptions) => {
      const { importFolder } = await import('../deployment/import-folder.ts');
      const { readServedManifest } = await import('../../deployment/fetch/served.ts');
      const { settings } = createContext({ quiet: true });
      const valuesFile = resolve(values);
      const home = join(settings.home, ...deploymentFolder(valuesFile));
      const served = () =>
        readServedManifest(home).catch((error: unknown) => {
          throw new UsageError(`${home} can't be read (${errorCode(error)}): import as the user of the deployment`);
        });
      const imported = await importFolder(resolve(folder), valuesFile, { allowOlder, served });
      if (json) printJson(imported);
      else process.stdout.write(describeImport(imported));
    });
}

function describeImport({ version, domain, bundle, changed, pin }: Imported): string {
  const done = changed
    ? `Imported version ${version} of ${domain}: ${bundle}\n`
    : `Version ${version} of ${domain} was imported already\n`;
  return pin === null ? done : `${done}It isn't served yet, because staticExport.version pins ${pin}: remove it\n`;
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
      throw new ConfigurationError([`--values: ${host ?? 'a file without a host name'} is given twice`]);
    }
    if (earlier.some((each) => each.valuesFile === valuesFile)) {
      throw new ConfigurationError([`--values: ${valuesFile} is given twice; each site needs its own file`]);
    }
  }
  return sites;
}
