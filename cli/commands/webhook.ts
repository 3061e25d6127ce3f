import { Command } from 'commander';
import { sources } from '../../api/webhooks/registry.ts';
import { CommandError } from '../command-error.ts';
import { createContext } from '../context.ts';
import { configuredWebhook } from '../webhook/configured-webhook.ts';
import { makeDelivery } from '../webhook/make-delivery.ts';
import { post } from '../webhook/post.ts';
import { readBody } from '../webhook/read-body.ts';
import { receiverReason } from '../webhook/receiver-reason.ts';
import { receiverUrl } from '../webhook/receiver-url.ts';
import { type Verdict, verdictOf } from '../webhook/verdict.ts';

const NAMES = [...sources.keys()];
const half = Math.ceil(NAMES.length / 2);

const HELP = `
This starts a real export of the site and prompts its agent rules: the event is titled "A test from galley webhook send".
SITE and SOURCE are those of galley.yaml; the first secret of the source signs. Sources:
  ${NAMES.slice(0, half).join(', ')},
  ${NAMES.slice(half).join(', ')}

Examples:
  galley webhook send handbook contentful
  galley webhook send handbook github --body push.json
  jq .doc export.json | galley webhook send handbook payload --body -
  galley webhook send handbook contentful --url https://hooks.example.com

Exit codes: 0 accepted or filtered, 1 refused or not reached, 2 no such site or source, or a body that isn't JSON.`;

type SendOptions = { body?: string; url?: string; json?: boolean };

export function webhookCommand(): Command {
  const command = new Command('webhook').description('set up and test publish webhooks');
  command
    .command('send')
    .argument('<site>', 'a site of galley.yaml')
    .argument('<source>', 'one of its webhooks, such as contentful')
    .option('--body <file>', 'send this JSON instead of a sample; - reads standard input')
    .option(
      '--url <url>',
      'where to send it: a complete URL or only the host; by default the running `up`, else HOST and PORT',
    )
    .option('--json', 'print the result as JSON')
    .description('sign a sample event with the configured secret and send it to the receiver')
    .addHelpText('after', HELP)
    .action(send);
  return command;
}

async function send(site: string, source: string, options: SendOptions): Promise<void> {
  const { settings } = createContext({ quiet: true });
  const webhook = await configuredWebhook(settings, site, source);
  const given = options.body === undefined ? undefined : await readBody(options.body, process.stdin);
  const url = await receiverUrl(settings, { site, source, url: options.url });
  const at = new Date();
  const delivery = makeDelivery(webhook, { path: url.pathname, at, given });
  const verdict = verdictOf(await post(url, delivery), { url, site, source });
  const doubtful = verdict.outcome === 'filtered' || verdict.status === 401;
  // A given URL may belong to anyone, and the question carries the operator token.
  const mayAsk = doubtful && options.url === undefined;
  const reason = mayAsk ? await receiverReason(settings, { receiver: url, site, source, at, verdict }) : undefined;

  const address = `${url.origin}${url.pathname}`;
  if (options.json) {
    const result = { site, source, url: address, ...verdict, reason: reason ?? null };
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  } else if (verdict.outcome !== 'unreachable') {
    process.stdout.write(`Sent a signed ${delivery.what} to ${address}\n`);
  }
  const meaning = describe(verdict, reason, options.url === undefined ? site : `${site} --url ${url.origin}`);
  if (verdict.outcome === 'refused' || verdict.outcome === 'unreachable') throw new CommandError(meaning);
  if (!options.json) process.stdout.write(`${meaning}\n`);
}

/** `target`: the arguments with which `galley sites status` asks the same receiver about the site. */
function describe({ outcome, status, meaning }: Verdict, reason: string | undefined, target: string): string {
  const answer = status === null ? meaning : `${status}: ${meaning}`;
  switch (outcome) {
    case 'accepted':
      return `${answer}\nSee what becomes of it: galley sites status ${target}`;
    case 'filtered':
      return `${answer}\nWhy: ${reason ?? `operators see the reason under deliveries: galley sites status ${target} --json`}`;
    case 'refused':
    case 'unreachable':
      return reason === undefined ? answer : `${answer} The receiver noted: ${reason}.`;
  }
}
