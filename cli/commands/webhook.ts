import { Command } from 'commander';
import { sourceFiles } from '../../api/webhooks/source-files.ts';
import { SITE_ARGUMENT, siteFirst } from '../sites/configured-sites.ts';
import type { SendOptions } from '../webhook/send.ts';

const NAMES = [...sourceFiles().keys()];
const half = Math.ceil(NAMES.length / 2);

const HELP = `
This starts a real export of the site and prompts its agent rules: the event is titled "A test from galley webhook send".
SITE and SOURCE are those of galley.yaml; the first secret of the source signs. Sources:
  ${NAMES.slice(0, half).join(', ')},
  ${NAMES.slice(half).join(', ')}

Examples:
  galley webhook send docs contentful
  galley webhook send docs github --body push.json
  jq .doc export.json | galley webhook send docs payload --body -
  galley webhook send docs contentful --url https://hooks.example.com

Exit codes: 0 accepted or filtered, 1 refused or not reached, 2 no such site or source, or a body that isn't JSON.`;

export function webhookCommand(): Command {
  const command = new Command('webhook').description('set up and test publish webhooks');
  command
    .command('send')
    .argument(...SITE_ARGUMENT)
    .argument('[source]', 'one of its webhooks, such as contentful')
    .option('--body <file>', 'send this JSON instead of a sample; - reads standard input')
    .option(
      '--url <url>',
      'where to send it: a complete URL or only the host; by default the running `up`, else HOST and PORT',
    )
    .option('--follow', 'follow its export until it is served')
    .option('--json', 'print the result as JSON')
    .description('sign a sample event with the configured secret and send it to the receiver')
    .addHelpText('after', HELP)
    .action(async (...args: [string | undefined, string | undefined, SendOptions]) => {
      const [given, named, options] = args;
      const [site, source = ''] = siteFirst([given, named], ['SOURCE']);
      const { send } = await import('../webhook/send.ts');
      await send(site, source, options);
    });
  return command;
}
