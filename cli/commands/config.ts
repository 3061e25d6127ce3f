import { Command } from 'commander';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { createContext } from '../context.ts';

export function configCommand(): Command {
  const command = new Command('config').description('galley.yaml');
  command
    .command('check')
    .description('check galley.yaml and the environment and report problems')
    .addHelpText(
      'after',
      '\nReads the file in GALLEY_CONFIG, otherwise ./galley.yaml. Starts and calls nothing.\n' +
        'Exit code 0 if everything is valid, 2 with a line for each problem.',
    )
    .action(check);
  return command;
}

async function check(): Promise<void> {
  const { settings } = createContext();
  const path = settings.configPath;
  if (path === undefined)
    throw new ConfigurationError(['GALLEY_CONFIG: expected the path of galley.yaml (there is none in this folder)']);
  const { loadGalleyConfig } = await import('../config.ts');
  const config = await loadGalleyConfig({ path, env: settings.variables });
  const { checkReviews } = await import('../programs/check-reviews.ts');
  checkReviews(config, { ownPlatform: false });
  const sites = Object.keys(config.sites);
  process.stdout.write(`${path} is correct: ${sites.length === 0 ? 'no sites' : `sites ${sites.join(', ')}`}\n`);
}
