import { Command } from 'commander';
import { z } from 'zod';
import { agentRuleState } from '../../contract/agent-state.ts';
import { type DeliveryRecord, type ExportRecord, siteState } from '../../contract/site-state.ts';
import { outcomeWords } from '../../contract/site-words.ts';
import { CommandError } from '../command-error.ts';
import { API_URL_OPTION, openOrchestrator, TOKEN_HELP } from '../orchestrator-client.ts';
import { plain, printJson, printLines, printRows } from '../output.ts';
import { rejectedDeliveries } from '../sites/describe-site.ts';

/** Parsed loosely, because an api of another release may send more or fewer fields. */
const siteDeliveries = siteState
  .pick({ deliveries: true, exports: true })
  .extend({ rejected: z.array(rejectedDeliveries).default([]) })
  .loose();
type SiteDeliveries = z.infer<typeof siteDeliveries>;

const prompted = agentRuleState.pick({ newest: true }).loose();

type Options = { json?: boolean; url?: string };

const SITE = ['<site>', 'the name of the site in galley.yaml'] as const;
const DELIVERY = ['<delivery>', 'the id of the delivery'] as const;

export function deliveriesCommand(): Command {
  const command = new Command('deliveries').description('the deliveries of webhooks to a running api');
  command
    .command('list')
    .argument(...SITE)
    .option('--json', 'print the deliveries as JSON')
    .option(...API_URL_OPTION)
    .description("list a site's newest deliveries, at most 200, and what became of each")
    .addHelpText('after', TOKEN_HELP)
    .action(async (site: string, options: Options) => {
      const { deliveries, exports, rejected } = await read(site, options);
      if (options.json) printJson({ deliveries, rejected });
      else list({ deliveries, exports, rejected });
    });
  command
    .command('show')
    .argument(...SITE)
    .argument('[delivery]', 'the id of the delivery; without it all of them')
    .option('--json', 'print the delivery, and its export, as JSON; without an id a list')
    .option(...API_URL_OPTION)
    .description('show what became of a delivery')
    .addHelpText('after', TOKEN_HELP)
    .action(show);
  command
    .command('run-again')
    .argument(...SITE)
    .argument(...DELIVERY)
    .option('--rule <name>', 'prompt this agent rule with its newest event instead of exporting the site')
    .option('--json', 'print the response as JSON')
    .option(...API_URL_OPTION)
    .description('run a filtered delivery again, export the site again, or prompt an agent rule again')
    .addHelpText('after', TOKEN_HELP)
    .action(runAgain);
  return command;
}

async function read(site: string, options: Options): Promise<SiteDeliveries> {
  const ask = await openOrchestrator(options);
  return siteDeliveries.parse(await ask(`/sites/${encodeURIComponent(site)}`));
}

async function show(site: string, id: string | undefined, options: Options): Promise<void> {
  const { deliveries, exports } = await read(site, options);
  const found = deliveries.filter((each) => id === undefined || each.id === id);
  if (id !== undefined && found.length === 0)
    throw new CommandError(`${site} lists no delivery ${plain(id)}: see galley deliveries list`);
  const shown = found.map((delivery) => ({ delivery, export: exportOf(delivery, exports) }));
  if (options.json) printJson(id !== undefined && shown.length === 1 ? shown[0] : shown);
  else if (shown.length === 0) printLines(['no deliveries']);
  else printLines(shown.flatMap((each) => inFull(each.delivery, each.export)));
}

async function runAgain(site: string, id: string, { rule, ...options }: Options & { rule?: string }): Promise<void> {
  const ask = await openOrchestrator(options);
  const path = `/sites/${encodeURIComponent(site)}/deliveries/${encodeURIComponent(id)}/run-again`;
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

function list({ deliveries, exports, rejected }: SiteDeliveries): void {
  if (deliveries.length === 0) printLines(['no deliveries']);
  printRows(
    deliveries.map((delivery) => {
      const { at, source, id, outcome, topic, title } = delivery;
      const texts = [id, topic, title].map((text) => text && plain(text));
      return [at, source, ...texts, outcome, fateOf(delivery, exportOf(delivery, exports))];
    }),
  );
  printRows(
    rejected.map(({ lastAt, source, reason, count }) => {
      return [lastAt, source, `rejected: ${reason}`, count === 1 ? 'once' : `${count} times`];
    }),
  );
  printLines(['Filtered and rejected deliveries are those of the api that responded.']);
}

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
    `${plain(id)} from ${source} at ${at}: ${outcome}`,
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
    pageCount !== null && `${pageCount} pages`,
    `${publishCount} publish(es)`,
  ];
  const times = [
    `requested ${requestedAt}`,
    `started ${startedAt}`,
    exportedAt ? `exported ${exportedAt}` : endedAt && `ended ${endedAt}`,
    writtenAt && `written ${writtenAt}`,
    servedAt && `served ${servedAt}`,
    rolledBackAt && `rolled back ${rolledBackAt}`,
  ];
  return [
    `  ${facts.filter(Boolean).join(', ')}`,
    ...times.filter((time) => time !== null && time !== '').map((time) => `  ${time}`),
    record.error === null ? undefined : `  error: ${plain(record.error)}`,
  ];
}
