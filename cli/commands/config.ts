import { Command } from 'commander';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { PROJECT_KEYS } from '../../contract/galley-config.ts';
import { createContext } from '../../programs/process/context.ts';
import { contradictions } from '../checks/contradictions.ts';
import { printJson } from '../output.ts';

export function configCommand(): Command {
  const command = new Command('config').description('galley.yaml');
  command
    .command('check')
    .option('--json', 'print {path, sites} as JSON')
    .description('check galley.yaml and the environment and report problems')
    .addHelpText(
      'after',
      '\nReads the file in GALLEY_CONFIG, otherwise ./galley.yaml. Starts and calls nothing.\n' +
        'Without ADMIN_API_URL, it checks the file as `galley up` reads it, which runs its own Admin API.\n' +
        'Exit code 0 if everything is valid, 2 with a line for each problem.',
    )
    .action(check);
  return command;
}

async function check({ json }: { json?: boolean }): Promise<void> {
  const { settings } = createContext();
  const path = settings.configPath;
  if (path === undefined)
    throw new ConfigurationError(['GALLEY_CONFIG: expected the path of galley.yaml (there is none in this folder)']);
  const { checkConfiguration } = await import('../../programs/config/check-configuration.ts');
  const config = await checkConfiguration(settings);
  const problems = contradictions(config, settings);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const sites = Object.keys(config.sites);
  if (json) printJson({ path, sites });
  else process.stdout.write(`${path} is correct: ${sites.length === 0 ? 'no sites' : `sites ${sites.join(', ')}`}\n`);
  for (const [name, { projectId = 'PROJECT', export: exported }] of settings.adminApiUrl === undefined
    ? []
    : Object.entries(config.sites)) {
    for (const key of PROJECT_KEYS) {
      if (exported[key] === undefined) continue;
      process.stderr.write(
        `sites.${name}.export.${key} has no effect here: only galley up sets it. ` +
          `Use galley projects set --project ${projectId} --${key} ${exported[key]} at the service.\n`,
      );
    }
  }
  if (settings.adminApiUrl === undefined && sites.length > 0)
    process.stderr.write(
      'Checked for galley up.\ngalley api and galley worker also need ADMIN_API_URL and ADMIN_API_KEY.\n',
    );
}
