import { Command } from 'commander';
import { z } from 'zod';
import { exportJobId } from '../../contract/admin-api.ts';
import { createContext } from '../../programs/process/context.ts';
import { openHome } from '../../programs/process/home.ts';
import { CommandError } from '../command-error.ts';
import { API_URL_OPTION, type OrchestratorClient, openOrchestrator, TOKEN_HELP } from '../orchestrator-client.ts';
import { plain, printJson, printLines } from '../output.ts';
import { describeBriefly, describeInFull, type ShownSite, siteStatus } from '../sites/describe-site.ts';

const statusList = z.object({ sites: z.array(siteStatus), nextCursor: z.string().nullish() });
const removed = siteStatus.extend({ endedRules: z.array(z.string()).default([]) });

/** The operators' actions on a site without options of their own, by the last part of their path. */
const ACTIONS = {
  export: 'export a site now, without a publish',
  refresh: 'refresh the links of a site and wait until they are written',
  pause: 'stop exporting a site; its link stays fresh',
  resume: 'export a paused site again',
} as const;

const DECISIONS = {
  approve: 'deploy the export that a guard holds, or all that wait for approval',
  reject: 'drop the export that a guard holds, or skip all that wait for approval',
} as const;

/** Actions whose effect is written to the deployments. */
const WRITES: readonly string[] = ['refresh', 'unlock', 'approve', 'rollback'];

export function sitesCommand(): Command {
  const command = new Command('sites').description('the sites of a running api');
  command
    .command('list')
    .option('--json', 'print the response as JSON')
    .option(...API_URL_OPTION)
    .description('list all sites, a line each')
    .addHelpText('after', TOKEN_HELP)
    .action(async (options: Options) => void (await listSites(options)));
  command
    .command('status')
    .argument('[site]', 'one site; without it all of them')
    .option('--json', 'print the response as JSON')
    .option(...API_URL_OPTION)
    .description('show the state of each site')
    .addHelpText('after', `${TOKEN_HELP}\nExit code 1 if a site has failed.`)
    .action(showStatus);
  for (const [name, description] of Object.entries(ACTIONS)) {
    addAction(command, name, description).action(async (site: string, options: Options) => {
      await act({ site, action: name }, options);
    });
  }
  addAction(command, 'lock', 'keep what is deployed: export publishes, but deploy none')
    .option(...REASON)
    .action(async (site: string, { reason, ...options }: Options & { reason?: string }) => {
      await act({ site, action: 'lock', body: { reason } }, options);
    });
  addAction(command, 'unlock', 'deploy new versions again, the newest at once').action(
    async (site: string, options: Options) => {
      await act({ site, action: 'unlock' }, options);
    },
  );
  for (const [name, description] of Object.entries(DECISIONS)) {
    addAction(command, name, description)
      .option('--deployment <name>', 'only for this deployment, by its name in galley.yaml')
      .action(async (site: string, { deployment, ...options }: Options & { deployment?: string }) => {
        await act({ site, action: name, body: { deployment } }, options);
      });
  }
  addAction(command, 'rollback', 'deploy an earlier export until the next publish')
    .argument('<version-or-job>', 'an earlier version, or the id of an export job')
    .option('--lock', 'until the site is unlocked, instead of until the next publish')
    .option(...REASON)
    .action(async (site: string, name: string, { lock, reason, ...options }: Options & RollbackOptions) => {
      const earlier = exportJobId.safeParse(name).success ? { jobId: name } : { version: name };
      await act({ site, action: 'rollback', body: { ...earlier, lock, reason } }, options);
    });
  addEndings(command);
  return command;
}

const REASON = ['--reason <text>', 'why, for others who look at the site'] as const;

function addAction(sites: Command, name: string, description: string): Command {
  return sites
    .command(name)
    .argument('<site>', 'the name of the site in galley.yaml')
    .option('--json', 'print the site as JSON')
    .option(...API_URL_OPTION)
    .description(description)
    .addHelpText('after', TOKEN_HELP);
}

/** Adds what ends a name of a site. */
function addEndings(sites: Command): void {
  sites
    .command('rename')
    .argument('<old-name>', 'the name of the site until now')
    .argument('<site>', 'its name in galley.yaml now')
    .option('--json', 'print the site as JSON')
    .option(...API_URL_OPTION)
    .description('continue a site under another name, with its history, links and lock')
    .addHelpText(
      'after',
      `\nRename the site in galley.yaml and restart api and workers first. Webhooks of the\nold name are accepted for 30 days.\n${TOKEN_HELP}`,
    )
    .action(async (site: string, to: string, options: Options) => {
      await act({ site, action: 'rename', body: { to } }, options);
    });
  sites
    .command('remove')
    .argument('<site>', 'the name of the site')
    .option('--json', 'print what was removed as JSON')
    .option(...API_URL_OPTION)
    .description('end a site and its agent rules and report what ended')
    .addHelpText(
      'after',
      `\nWhat is deployed stays, but its link is no longer refreshed. Take the site out of galley.yaml first: its next\npublish starts it again.\n${TOKEN_HELP}`,
    )
    .action(async (site: string, options: Options) => {
      const ask = await openOrchestrator(options);
      const response = await ask(`/sites/${encodeURIComponent(site)}`, 'DELETE');
      if (options.json) printJson(response);
      else printLines(whatEnded(removed.parse(response)));
    });
}

type Options = { json?: boolean; url?: string };
type RollbackOptions = { lock?: boolean; reason?: string };

/** Sends an action, and prints the site. @throws CommandError if what it wrote has failed */
async function act({ site, action, body }: { site: string; action: string; body?: object }, options: Options) {
  const ask = await openOrchestrator(options);
  const response = await ask(`/sites/${encodeURIComponent(site)}/${action}`, 'POST', body);
  const after = showSite(response, options);
  if (WRITES.includes(action)) requireNoFailure([after]);
}

async function listSites(options: Options): Promise<ShownSite[]> {
  const sites = await askForAll(await openOrchestrator(options));
  if (options.json) printJson({ sites, nextCursor: null });
  else printLines(sites.length === 0 ? ['no sites'] : sites.map((each) => describeBriefly(each)));
  return sites;
}

/** @throws CommandError if a site has failed */
async function showStatus(site: string | undefined, options: Options): Promise<void> {
  if (site === undefined) {
    requireNoFailure(await listSites(options));
    return;
  }
  const ask = await openOrchestrator(options);
  const response = await ask(`/sites/${encodeURIComponent(site)}`);
  const found = siteStatus.parse(response);
  if (options.json) printJson(response);
  else printLines(describeInFull(found, { urls: await deploymentUrls(options), now: new Date() }));
  requireNoFailure([found]);
}

/** Prints the site of a response. */
function showSite(response: unknown, options: Options): ShownSite {
  const site = siteStatus.parse(response);
  if (options.json) printJson(response);
  else printLines([describeBriefly(site)]);
  return site;
}

/** The URLs of the deployments of the running `up`, by their values files; none for an api elsewhere. */
async function deploymentUrls({ url }: { url?: string | undefined }): Promise<ReadonlyMap<string, string>> {
  const running = url === undefined ? await openHome(createContext().settings.home).running() : undefined;
  return new Map((running?.deployments ?? []).map((each) => [each.valuesFile, each.url]));
}

function requireNoFailure(sites: readonly ShownSite[]): void {
  const failed = sites.filter(({ phase }) => phase === 'failed').map(({ site }) => site);
  if (failed.length > 0) throw new CommandError(`Failed: ${failed.join(', ')}`);
}

/** All pages of the list, in order. */
async function askForAll(ask: OrchestratorClient): Promise<ShownSite[]> {
  const sites: ShownSite[] = [];
  for (let path: string | undefined = '/sites?limit=200'; path !== undefined; ) {
    const parsed: z.ZodSafeParseResult<z.infer<typeof statusList>> = statusList.safeParse(await ask(path));
    if (!parsed.success)
      throw new CommandError('The api answered GET /sites in a format that this release can not read');
    sites.push(...parsed.data.sites);
    const { nextCursor } = parsed.data;
    const goesOn = typeof nextCursor === 'string' && parsed.data.sites.length > 0;
    path = goesOn ? `/sites?limit=200&cursor=${encodeURIComponent(nextCursor)}` : undefined;
  }
  return sites;
}

function whatEnded(site: z.infer<typeof removed>): (string | false | null | undefined)[] {
  const exporting = site.phase === 'exporting' && site.jobId;
  const waiting = site.pendingCount ?? 0;
  return [
    `${site.site} was removed: Galley no longer exports or refreshes it.`,
    exporting && `The export ${site.jobId} was cancelled.`,
    waiting > 0 && `${waiting} waiting publish(es) were dropped.`,
    ...site.endedRules.map((rule) => `The agent rule ${rule} ended. Changes that it started continue.`),
    ...(site.deployments ?? []).map(
      ({ name, version }) => version && `${plain(name)} keeps version ${plain(version)}.`,
    ),
    site.linkExpiresAt && `The link expires at ${site.linkExpiresAt} and is not refreshed.`,
    'If galley.yaml still names the site, its next publish starts it again.',
  ];
}
