import { Command } from 'commander';
import { webhookSources } from '../../contract/webhook-sources.ts';
import { CommandError } from '../command-error.ts';
import { createContext } from '../context.ts';
import { configuredWebhook } from '../webhook/configured-webhook.ts';
import { makeDelivery } from '../webhook/make-delivery.ts';
import { post } from '../webhook/post.ts';
import { readBody } from '../webhook/read-body.ts';
import { receiverAddress } from '../webhook/receiver-address.ts';
import { toldReason } from '../webhook/told-reason.ts';
import { type Verdict, verdictOf } from '../webhook/verdict.ts';

const HELP = `
It starts a real export of the site, and prompts its agent rules: the event is titled "A test from galley webhook send".
SITE and SOURCE are those of galley.yaml; the first secret of the source signs. Sources:
  ${webhookSources.keyof().options.slice(0, 9).join(', ')},
  ${webhookSources.keyof().options.slice(9).join(', ')}

Examples:
  galley webhook send handbook contentful
  galley webhook send handbook github --body push.json
  jq .doc export.json | galley webhook send handbook payload --body -
  galley webhook send handbook contentful --url https://hooks.example.com

Exit codes: 0 accepted or filtered, 1 refused or not reached, 2 no such site or source, or a body that is no JSON.`;

type SendOptions = { body?: string; url?: string; json?: boolean };

export function webhookCommand(): Command {
  const command = new Command('webhook').description('set up and test publish webhooks');
  command
    .command('send')
    .argument('<site>', 'a site of galley.yaml')
    .argument('<source>', 'one of its webhooks, such as contentful')
    .option('--body <file>', 'send this JSON instead of a sample; - reads standard input')
    .option('--url <url>', 'where to send it, whole or only the host; else the running `up`, else HOST and PORT')
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
  const url = await receiverAddress(settings, { site, source, url: options.url });
  const at = new Date();
  const delivery = makeDelivery(webhook, { path: url.pathname, at, given });
  const verdict = verdictOf(await post(url, delivery), { url, site, source });
  const doubtful = verdict.outcome === 'filtered' || verdict.status === 401;
  // The user's own URL may be anyone's, and the request carries the operator token.
  const asked = doubtful && options.url === undefined;
  const reason = asked ? await toldReason(settings, { receiver: url, site, source, at, verdict }) : undefined;

  const address = `${url.origin}${url.pathname}`;
  if (options.json) {
    const told = { site, source, url: address, ...verdict, reason: reason ?? null };
    process.stdout.write(`${JSON.stringify(told, null, 2)}\n`);
  } else if (verdict.outcome !== 'unreachable') {
    process.stdout.write(`Sent a signed ${delivery.what} to ${address}\n`);
  }
  const meaning = inWords(verdict, reason, options.url === undefined ? site : `${site} --url ${url.origin}`);
  if (verdict.outcome === 'refused' || verdict.outcome === 'unreachable') throw new CommandError(meaning);
  if (!options.json) process.stdout.write(`${meaning}\n`);
}

/** `look`: the arguments of `galley sites status` for the same receiver. */
function inWords({ outcome, status, meaning }: Verdict, reason: string | undefined, look: string): string {
  const answer = status === null ? meaning : `${status}: ${meaning}`;
  switch (outcome) {
    case 'accepted':
      return `${answer}\nSee what becomes of it: galley sites status ${look}`;
    case 'filtered':
      return `${answer}\nWhy: ${reason ?? `the receiver tells operators, under deliveries: galley sites status ${look} --json`}`;
    case 'refused':
    case 'unreachable':
      return reason === undefined ? answer : `${answer} The receiver noted: ${reason}.`;
  }
}
