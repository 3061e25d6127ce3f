import { Command } from 'commander';
import { z } from 'zod';
import { siteState } from '../../contract/site-state.ts';
import { CommandError } from '../command-error.ts';
import { API_URL_OPTION, type OrchestratorClient, openOrchestrator, TOKEN_HELP } from '../orchestrator-client.ts';

const rejected = z.object({ source: z.string(), reason: z.string(), count: z.number(), lastAt: z.string() });

/** Read loosely: an api of another release may say more or less. */
const status = siteState
  // A default would tell of what this api did not.
  .extend({
    rejected: z.array(rejected),
    trouble: siteState.shape.trouble.unwrap(),
    pendingCount: siteState.shape.pendingCount.unwrap(),
    withheld: siteState.shape.withheld.unwrap(),
  })
  .partial()
  .required({ site: true })
  .loose();
const statusList = z.object({ sites: z.array(status), nextCursor: z.string().nullish() });
type Status = z.infer<typeof status>;

const removed = status.extend({ endedRules: z.array(z.string()).default([]) });

/** What operators do to a site, by the last part of its path. */
const ACTIONS = {
  export: 'export a site at once, without a publish',
  refresh: 'renew the links of a site and wait until they are written',
  pause: 'stop exporting a site; its link stays fresh',
  resume: 'export a paused site again',
} as const;

export function sitesCommand(): Command {
  const command = new Command('sites').description('the sites of a running api');
  command
    .command('status')
    .argument('[site]', 'one site; without it all of them')
    .option('--json', 'print the answer as JSON')
    .option(...API_URL_OPTION)
    .description('say where each site stands')
    .addHelpText('after', TOKEN_HELP)
    .action(showStatus);
  for (const [name, description] of Object.entries(ACTIONS)) {
    command
      .command(name)
      .argument('<site>', 'the name of the site in galley.yaml')
      .option('--json', 'print the site as JSON')
      .option(...API_URL_OPTION)
      .description(description)
      .addHelpText('after', TOKEN_HELP)
      .action(async (site: string, options: Options) => {
        const ask = await openOrchestrator(options);
        const answer = await ask(`/sites/${encodeURIComponent(site)}/${name}`, 'POST');
        process.stdout.write(options.json ? asJson(answer) : line(status.parse(answer)));
      });
  }
  command
    .command('remove')
    .argument('<site>', 'the name of the site')
    .option('--json', 'print what was removed as JSON')
    .option(...API_URL_OPTION)
    .description('end a site and its agent rules, and say what ends')
    .addHelpText(
      'after',
      `\nWhat is deployed stays, but its link is no longer refreshed. Take the site out of galley.yaml first: its next\npublish starts it again.\n${TOKEN_HELP}`,
    )
    .action(async (site: string, options: Options) => {
      const ask = await openOrchestrator(options);
      const answer = await ask(`/sites/${encodeURIComponent(site)}`, 'DELETE');
      process.stdout.write(options.json ? asJson(answer) : whatEnded(removed.parse(answer)));
    });
  return command;
}

type Options = { json?: boolean; url?: string };

async function showStatus(site: string | undefined, options: Options): Promise<void> {
  const ask = await openOrchestrator(options);
  if (site !== undefined) {
    const answer = await ask(`/sites/${encodeURIComponent(site)}`);
    process.stdout.write(options.json ? asJson(answer) : inFull(status.parse(answer)));
    return;
  }
  const sites = await askForAll(ask);
  if (options.json) process.stdout.write(asJson({ sites, nextCursor: null }));
  else process.stdout.write(sites.length === 0 ? 'no sites\n' : sites.map(line).join(''));
}

/** Every page of the list, in its order. */
async function askForAll(ask: OrchestratorClient): Promise<Status[]> {
  const sites: Status[] = [];
  for (let path: string | undefined = '/sites?limit=200'; path !== undefined; ) {
    const parsed: z.ZodSafeParseResult<z.infer<typeof statusList>> = statusList.safeParse(await ask(path));
    if (!parsed.success) throw new CommandError('The api answered GET /sites in a form that this release can not read');
    sites.push(...parsed.data.sites);
    const { nextCursor } = parsed.data;
    const goesOn = typeof nextCursor === 'string' && parsed.data.sites.length > 0;
    path = goesOn ? `/sites?limit=200&cursor=${encodeURIComponent(nextCursor)}` : undefined;
  }
  return sites;
}

function asJson(answer: unknown): string {
  return `${JSON.stringify(answer, null, 2)}\n`;
}

/** More of these are in the JSON. */
const NEWEST = 10;

function inFull(site: Status): string {
  const deliveries = (site.deliveries ?? []).slice(0, NEWEST).map((delivery) => {
    const { at, source, outcome, topic, workflowId, why } = delivery;
    return [`  ${at}`, source, outcome, topic && plain(topic), workflowId, why && `(${plain(why)})`];
  });
  const turnedAway = (site.rejected ?? []).map(({ lastAt, source, reason, count }) => {
    return [`  ${lastAt}`, source, 'rejected:', reason, `(${count === 1 ? 'once' : `${count} times`})`];
  });
  const lines = [...deliveries, ...turnedAway].map((words) => `${words.filter(Boolean).join(' ')}\n`);
  return line(site) + lines.join('');
}

function whatEnded(site: z.infer<typeof removed>): string {
  const exporting = site.phase === 'exporting' && site.jobId;
  const waiting = site.pendingCount ?? 0;
  const facts = [
    `${site.site} was removed: Galley exports and refreshes it no more.`,
    exporting && `The export ${site.jobId} was cancelled.`,
    waiting > 0 && `${waiting} publish(es) that waited were dropped.`,
    ...site.endedRules.map((rule) => `The agent rule ${rule} ended. Changes that it started go on.`),
    ...(site.deployments ?? []).map(({ valuesFile, version }) => version && `${valuesFile} keeps version ${version}.`),
    site.linkExpiresAt && `The link expires at ${site.linkExpiresAt} and is not renewed.`,
    'If galley.yaml still names the site, its next publish starts it again.',
  ];
  return facts.map((fact) => (fact ? `${fact}\n` : '')).join('');
}

/** Senders choose their words, and a terminal obeys some. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
}

function line(each: Status): string {
  const facts = [
    each.phase ?? 'unknown',
    each.version && `version ${each.version}`,
    each.withheld && `withholds the newer ${plain(each.withheld.version ?? 'export')} of ${each.withheld.exportedAt}`,
    each.linkExpiresAt && `link until ${each.linkExpiresAt}`,
    each.nextRefreshAt && `refresh at ${each.nextRefreshAt}`,
    each.progress && `${each.progress.percent ?? '?'} %, ${each.progress.pageCount ?? '?'} pages`,
    ...(each.deployments ?? []).map(({ held, pin, valuesFile }) => held && `held at ${pin} by ${valuesFile}`),
    ...(each.deployments ?? []).map(({ off, valuesFile }) => off && `${valuesFile} is off`),
    each.lastError && `error: ${each.lastError.message}`,
  ];
  return `${each.site}: ${facts.filter(Boolean).join(', ')}\n`;
}
