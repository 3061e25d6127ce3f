import { Command } from 'commander';
import type { OpenOptions } from '../open-page.ts';
import { API_URL_OPTION, TOKEN_HELP } from '../orchestrator-client.ts';

export function openCommand(): Command {
  return new Command('open')
    .argument('[site]', "a site's page; without it the sites page")
    .option('--served', 'what is deployed instead, beside a running `up`')
    .option('--temporal', "Temporal's UI instead")
    .option('--print', 'only print the URL')
    .option('--json', 'only print {url} as JSON')
    .option(...API_URL_OPTION)
    .description('open the sites page, a site, or what is deployed in the browser')
    .addHelpText(
      'after',
      `\nThe link signs in once, within 15 minutes. Without a display it is only printed.\n${TOKEN_HELP}`,
    )
    .action(async (site: string | undefined, options: OpenOptions) => {
      const { openPage } = await import('../open-page.ts');
      await openPage(site, options);
    });
}
