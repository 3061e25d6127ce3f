import { Command } from 'commander';
import { z } from 'zod';
import { agentRuleState } from '../../contract/agent-state.ts';
import { type DeliveryRecord, type ExportRecord, siteState } from '../../contract/site-state.ts';
import { DELIVERY_WORDS, outcomeWords, rejectionWords } from '../../contract/site-words.ts';
import { formatCount } from '../../ui/format.ts';
import { CommandError } from '../command-error.ts';
import { API_URL_OPTION, openOrchestrator, sitePath, TOKEN_HELP } from '../orchestrator-client.ts';
import { plain, printJson, printLines } from '../output.ts';
import { SITE_ARGUMENT, siteFirst } from '../sites/configured-sites.ts';
import { rejectedDeliveries } from '../sites/describe-site.ts';
import { ago, type Columns, localTime, printTable } from '../table.ts';

/** Parsed loosely, because an api of another release may send more or fewer fields. */
const siteDeliveries = siteState
  .pick({ deliveries: true, exports: true })
  .extend({ rejected: z.array(rejectedDeliveries).default([]) })
  .loose();
type SiteDeliveries = z.infer<typeof siteDeliveries>;

const prompted = agentRuleState.pick({ newest: true }).loose();

type Options = { json?: boolean; url?: string };

export function deliveriesCommand(): Command {
  const command = new Command('deliveries').description('the deliveries of webhooks to a running api');
  command
    .command('list')
    .argument(...SITE_ARGUMENT)
    .option('--json', 'print the deliveries as JSON')
    .option(...API_URL_OPTION)
    .description("list a site's newest deliveries, at most 200, and what became of each")
    .addHelpText('after', TOKEN_HELP)
    .action(async (given: string | undefined, options: Options) => {
      const [site] = siteFirst([given]);
      const { deliveries, exports, rejected } = await read(site, options);
      if (options.json) printJson({ deliveries, rejected });
      else printDeliveries({ deliveries, exports, rejected });
    });
  command
    .command('show')
    .argument(...SITE_ARGUMENT)
    .argument('[delivery]', 'the id of the delivery; without it all of them')
    .option('--json', 'print the delivery, and its export, as JSON; without an id a list')
    .option(...API_URL_OPTION)
    .description('show what became of a delivery')
    .addHelpText('after', TOKEN_HELP)
    .action(show);
  command
    .command('run-again')
    .argument(...SITE_ARGUMENT)
    .argument('[delivery]', 'the id of the delivery')
    .option('--rule <name>', 'prompt this agent rule with its newest event instead of exporting the site')
    .option('--json', 'print the response as JSON')
    .option(...API_URL_OPTION)
    .description('run a filtered delivery again, export the site again, or prompt an agent rule again')
    .addHelpText('after', TOKEN_HELP)
    .action(runAgain);
  return command;
}

async function read(site: string, options: Options): Promise<SiteDeliveries> {
  const { ask } = await openOrchestrator(options);
  return siteDeliveries.parse(await ask(sitePath(site)));
}

async function show(...args: [string | undefined, string | undefined, Options]): Promise<void> {
  const [given, named, options] = args;
  const [site, id] = siteFirst([given, named], ['DELIVERY?']);
  const { deliveries, exports } = await read(site, options);
  const found = deliveries.filter((each) => id === undefined || each.id === id);
  if (id !== undefined && found.length === 0)
    throw new CommandError(`${site} lists no delivery ${plain(id)}: galley deliveries list ${site} shows them`);
  const shown = found.map((delivery) => ({ delivery, export: exportOf(delivery, exports) }));
  if (options.json) printJson(id !== undefined && shown.length === 1 ? shown[0] : shown);
  else if (shown.length === 0) printLines(['no deliveries']);
  else printLines(shown.flatMap((each) => inFull(each.delivery, each.export)));
}

type RunAgainOptions = Options & { rule?: string };

async function runAgain(...args: [string | undefined, string | undefined, RunAgainOptions]): Promise<void> {
  const [given, named, { rule, ...options }] = args;
  const [site, id = ''] = siteFirst([given, named], ['DELIVERY']);
  const { ask } = await openOrchestrator(options);
  const path = sitePath(site, 'deliveries', id, 'run-again');
  const response = await ask(path, 'POST', rule === undefined ? undefined : { rule });
  if (options.json) printJson(response);
  else if (rule === undefined) printLines([`${site} is exported again.`]);
  else {
    const { newest } = prompted.parse(response);
    printLines([
      `The rule ${rule} is prompted again, with its newest event${newest ? `: ${plain(newest.title)}` : ''}.`,
    ]);
  }
}

function printDeliveries({ deliveries, exports, rejected }: SiteDeliveries): void {
  const columns: Columns<DeliveryRecord> = {
    Received: ({ at }) => ago(at),
    Source: ({ source }) => source,
    Delivery: ({ id }) => id,
    Result: ({ outcome }) => DELIVERY_WORDS[outcome],
    '': (delivery) => {
      const facts = [delivery.topic, delivery.title, fateOf(delivery, exportOf(delivery, exports))];
      return facts.filter(Boolean).join(', ');
    },
  };
  printTable(deliveries, columns, 'no deliveries');
  if (rejected.length > 0) {
    printLines(['\nRejected:']);
    printTable(rejected, REJECTED_COLUMNS, '');
  }
  printLines(['\nFiltered and rejected deliveries are those of the api that responded.']);
}

const REJECTED_COLUMNS: Columns<SiteDeliveries['rejected'][number]> = {
  Last: ({ lastAt }) => ago(lastAt),
  Source: ({ source }) => source,
  Reason: ({ reason }) => rejectionWords(reason),
  Count: ({ count }) => count,
};

function exportOf({ exportNumber }: DeliveryRecord, exports: readonly ExportRecord[]): ExportRecord | null {
  return exports.find(({ number }) => number === exportNumber) ?? null;
}

/** What became of a delivery, in a few words; undefined if that isn't known. */
function fateOf({ exportNumber, why, workflowId }: DeliveryRecord, record: ExportRecord | null): string | undefined {
  if (why !== undefined) return plain(why);
  if (exportNumber === null) return 'waits for an export';
  if (exportNumber !== undefined) return `export ${exportNumber}${record === null ? '' : `: ${outcomeWords(record)}`}`;
  return workflowId?.startsWith('agent:') ? `agent change ${workflowId}` : undefined;
}

function inFull(delivery: DeliveryRecord, record: ExportRecord | null): (string | undefined)[] {
  const { id, source, at, outcome, topic, action, title, author } = delivery;
  const event = [
    topic && plain(topic),
    action && `(${action})`,
    title && plain(title),
    author && `by ${plain(author)}`,
  ];
  return [
    `${plain(id)} from ${source}, ${ago(at)}: ${DELIVERY_WORDS[outcome].toLowerCase()}`,
    event.filter(Boolean).join(' ') || undefined,
    fateOf(delivery, record),
    ...(record === null ? [] : exportLines(record)),
  ];
}

function exportLines(record: ExportRecord): (string | undefined)[] {
  const { jobId, version, pageCount, publishCount, requestedAt, startedAt, exportedAt, endedAt } = record;
  const { writtenAt, servedAt, rolledBackAt } = record;
  const facts = [
    jobId && `job ${jobId}`,
    version && `version ${version}`,
    pageCount !== null && formatCount(pageCount, 'page'),
    formatCount(publishCount, 'publish', 'publishes'),
  ];
  const times: [what: string, at: string | null][] = [
    ['requested', requestedAt],
    ['started', startedAt],
    exportedAt === null ? ['ended', endedAt] : ['exported', exportedAt],
    ['written', writtenAt],
    ['served', servedAt],
    ['rolled back', rolledBackAt],
  ];
  return [
    `  ${facts.filter(Boolean).join(', ')}`,
    ...times.map(([what, at]) => (at === null ? undefined : `  ${what} ${localTime(at)}, ${ago(at)}`)),
    record.error === null ? undefined : `  error: ${plain(record.error)}`,
  ];
}
