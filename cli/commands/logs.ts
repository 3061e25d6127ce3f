import { Command } from 'commander';
import { API_URL_OPTION, openOrchestrator, sitePath, TOKEN_HELP } from '../orchestrator-client.ts';
import { SITE_ARGUMENT, siteFirst } from '../sites/configured-sites.ts';
import { siteStatus } from '../sites/describe-site.ts';

type Options = { follow?: boolean; json?: boolean; url?: string };

export function logsCommand(): Command {
  return new Command('logs')
    .argument(...SITE_ARGUMENT)
    .option('--follow', 'also what happens from now on, until Ctrl-C')
    .option('--json', 'print {site, events} as JSON; with --follow an event on each line')
    .option(...API_URL_OPTION)
    .description('what happened at a site: deliveries, exports, refreshes, actions; newest last')
    .addHelpText('after', TOKEN_HELP)
    .action(async (given: string | undefined, options: Options) => {
      const [site] = siteFirst([given]);
      const { ask } = await openOrchestrator(options);
      const { showLog } = await import('../follow/follow-site.ts');
      await showLog(async () => siteStatus.parse(await ask(sitePath(site))), options);
    });
}
