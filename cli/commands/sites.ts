import { Command } from 'commander';
import { z } from 'zod';
import { exportJobId } from '../../contract/admin-api.ts';
import { CommandError } from '../command-error.ts';
import { API_URL_OPTION, deploymentUrls, openOrchestrator, sitePath, TOKEN_HELP } from '../orchestrator-client.ts';
import { COLUMNS, plain, printJson, printLines } from '../output.ts';
import { SITE_ARGUMENT, siteFirst } from '../sites/configured-sites.ts';
import { describeBriefly, describeInFull, type ShownSite, SITE_COLUMNS, siteStatus } from '../sites/describe-site.ts';
import { ago, printTable, tableLines } from '../table.ts';

const removed = siteStatus.extend({ endedRules: z.array(z.string()).default([]) });

/** The operators' actions on a site without options of their own, by the last part of their path. */
const ACTIONS = {
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
    .description('list all sites')
    .addHelpText('after', TOKEN_HELP)
    .action(async (options: Options) => void (await listSites(options)));
  command
    .command('status')
    .argument('[site]', 'one site; without it all of them')
    .option('--watch', 'show it again whenever it changes, until Ctrl-C')
    .option('--json', 'print the response as JSON; with --watch one on each line')
    .option(...API_URL_OPTION)
    .description('show the state of each site')
    .addHelpText('after', `${TOKEN_HELP}\nExit code 1 if a site has failed.`)
    .action(showStatus);
  addAction(command, 'export', 'export a site now, without a publish, and follow it until it is served')
    .option('--detach', 'return at once, instead of following it')
    .addHelpText('after', '\nExit code 0 if it is served or written, 1 if it failed or waits for a person.')
    .action(async (given: string | undefined, { detach, ...options }: Options & { detach?: boolean }) => {
      const [site] = siteFirst([given]);
      if (detach) await act({ site, action: 'export' }, options);
      else await exportAndFollow(site, options);
    });
  for (const [name, description] of Object.entries(ACTIONS)) {
    addAction(command, name, description).action(async (site: string | undefined, options: Options) => {
      await act({ site, action: name }, options);
    });
  }
  addAction(command, 'lock', 'keep what is deployed: export publishes, but deploy none')
    .option(...REASON)
    .action(async (site: string | undefined, { reason, ...options }: Options & { reason?: string }) => {
      await act({ site, action: 'lock', body: { reason } }, options);
    });
  addAction(command, 'unlock', 'deploy new versions again, the newest at once').action(
    async (site: string | undefined, options: Options) => {
      await act({ site, action: 'unlock' }, options);
    },
  );
  for (const [name, description] of Object.entries(DECISIONS)) {
    addAction(command, name, description)
      .option('--deployment <name>', 'only for this deployment, by its name in galley.yaml')
      .action(async (site: string | undefined, { deployment, ...options }: Options & { deployment?: string }) => {
        await act({ site, action: name, body: { deployment } }, options);
      });
  }
  addAction(command, 'rollback', 'deploy an earlier export until the next publish')
    .argument('[version-or-job]', 'an earlier version, or the id of an export job')
    .option('--lock', 'until the site is unlocked, instead of until the next publish')
    .option(...REASON)
    .action(async (...args: [string?, string?, (Options & RollbackOptions)?]) => {
      const [given, earlier, { lock, reason, ...options } = {}] = args;
      const [site, name = ''] = siteFirst([given, earlier], ['VERSION_OR_JOB']);
      const named = exportJobId.safeParse(name).success ? { jobId: name } : { version: name };
      await act({ site, action: 'rollback', body: { ...named, lock, reason } }, options);
    });
  addEndings(command);
  return command;
}

const REASON = ['--reason <text>', 'why, for others who look at the site'] as const;

function addAction(sites: Command, name: string, description: string): Command {
  return sites
    .command(name)
    .argument(...SITE_ARGUMENT)
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
    .argument(...SITE_ARGUMENT)
    .option('--json', 'print what was removed as JSON')
    .option(...API_URL_OPTION)
    .description('end a site and its agent rules and report what ended')
    .addHelpText(
      'after',
      `\nWhat is deployed stays, but its link is no longer refreshed. Take the site out of galley.yaml first: its next\npublish starts it again.\n${TOKEN_HELP}`,
    )
    .action(async (given: string | undefined, options: Options) => {
      const [site] = siteFirst([given]);
      const response = await (await openOrchestrator(options)).ask(sitePath(site), 'DELETE');
      if (options.json) printJson(response);
      else printLines(whatEnded(removed.parse(response)));
    });
}

type Options = { json?: boolean; url?: string };
type RollbackOptions = { lock?: boolean; reason?: string };

type Action = { site: string | undefined; action: string; body?: object };

/** Sends an action, and prints the site. @throws CommandError if what it wrote has failed */
async function act({ site: given, action, body }: Action, options: Options) {
  const [site] = siteFirst([given]);
  const { ask } = await openOrchestrator(options);
  const response = await ask(sitePath(site, action), 'POST', body);
  const after = siteStatus.parse(response);
  if (options.json) printJson(response);
  else printLines([describeBriefly(after)]);
  if (WRITES.includes(action)) requireNoFailure([after]);
}

async function exportAndFollow(site: string, options: Options): Promise<void> {
  const { ask } = await openOrchestrator(options);
  await ask(sitePath(site, 'export'), 'POST');
  const { followExport, requestedExport } = await import('../follow/follow-export.ts');
  await followExport(requestedExport, { site, ask, urls: await deploymentUrls(options), json: options.json });
}

async function listSites(options: Options): Promise<ShownSite[]> {
  const sites = await (await openOrchestrator(options)).sites();
  if (options.json) printJson({ sites, nextCursor: null });
  else printTable(sites, SITE_COLUMNS, 'no sites: galley init writes a galley.yaml');
  return sites;
}

/** @throws CommandError if a site has failed */
async function showStatus(site: string | undefined, options: Options & { watch?: boolean }): Promise<void> {
  if (options.watch) return await watchSites(site, options);
  if (site === undefined) return requireNoFailure(await listSites(options));
  const response = await (await openOrchestrator(options)).ask(sitePath(site));
  const found = siteStatus.parse(response);
  if (options.json) printJson(response);
  else printLines(describeInFull(found, { urls: await deploymentUrls(options), now: new Date() }));
  requireNoFailure([found]);
}

async function watchSites(site: string | undefined, options: Options): Promise<never> {
  const { ask, sites } = await openOrchestrator(options);
  const { watch } = await import('../follow/follow-site.ts');
  if (options.json)
    return await watch(site === undefined ? sites : () => ask(sitePath(site)), (state) => [JSON.stringify(state)]);
  const width = process.stdout.columns ?? COLUMNS;
  if (site === undefined) return await watch(sites, (all) => tableLines(all, SITE_COLUMNS, width));
  const urls = await deploymentUrls(options);
  const read = async (): Promise<ShownSite> => siteStatus.parse(await ask(sitePath(site)));
  return await watch(read, (state) => describeInFull(state, { urls, now: new Date() }));
}

function requireNoFailure(sites: readonly ShownSite[]): void {
  const failed = sites.filter(({ phase }) => phase === 'failed').map(({ site }) => site);
  if (failed.length > 0) throw new CommandError(`Failed: ${failed.join(', ')}`);
}

function whatEnded(site: z.infer<typeof removed>): (string | false | null | undefined)[] {
  const exporting = site.phase === 'exporting' && site.jobId;
  const waiting = site.pendingCount ?? 0;
  return [
    `${site.site} was removed: Galley no longer exports or refreshes it.`,
    exporting && `The export ${site.jobId} was canceled.`,
    waiting > 0 && `${waiting} waiting publish(es) were dropped.`,
    ...site.endedRules.map((rule) => `The agent rule ${rule} ended. Changes that it started continue.`),
    ...(site.deployments ?? []).map(
      ({ name, version }) => version && `${plain(name)} keeps version ${plain(version)}.`,
    ),
    site.linkExpiresAt && `The link expires ${ago(site.linkExpiresAt)} and is not refreshed.`,
    'If galley.yaml still names the site, its next publish starts it again.',
  ];
}
