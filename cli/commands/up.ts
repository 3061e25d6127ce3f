import { relative } from 'node:path';
import { Command } from 'commander';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import { createContext } from '../../programs/process/context.ts';
import { runService } from '../../programs/process/lifetime.ts';
import { pagesUrl } from '../../programs/process/serve.ts';
import type { Settings } from '../../programs/settings/environment.ts';
import type { Everything } from '../../programs/up.ts';

export function upCommand(): Command {
  return new Command('up')
    .description('start everything on this machine')
    .addHelpText(
      'after',
      `
Temporal with its UI, the database, the platform (Admin API), the orchestrator and a deployment for each values file.
State is kept in GALLEY_HOME (.galley). What a variable names is used instead: TEMPORAL_ADDRESS, DATABASE_URL,
OBJECT_STORE_URL, and for the whole platform ADMIN_API_URL with ADMIN_API_KEY. Ports: PORT, PLATFORM_PORT,
DEPLOYMENT_PORT, TEMPORAL_PORT, TEMPORAL_UI_PORT (0: a free one). Without a galley.yaml it runs with no sites. Ctrl-C ends it.
Problems are logged; with --verbose also what goes well.`,
    )
    .option('--verbose', 'also log what goes well, and each request to a deployment')
    .action(async ({ verbose = false }: { verbose?: boolean }) => {
      // The list of URLs stays in view.
      const context = createContext({ quiet: !verbose, level: 'warn' });
      const { logger } = context;
      const { serving } = context.settings;
      const settings = { ...context.settings, serving: { ...serving, accessLog: serving.accessLog || verbose } };
      await runService({ settings, logger }, async (lifetime) => {
        const { prepare } = await import('../../programs/up/prepare.ts');
        const prepared = await prepare(settings, lifetime);
        const { startEverything } = await import('../../programs/up.ts');
        const everything = await startEverything(prepared, { settings, logger, lifetime });
        return describeReady(everything, settings);
      });
    });
}

/** The text after `ready`: all URLs in one line for programs, then each with what it is for. */
function describeReady(
  { addresses, config, signInUrl, setupUrl, metricsUrl }: Everything,
  { apiPublicUrl }: Settings,
): string {
  const { platform, api, deployments, temporal, temporalUi } = addresses;
  const line = [
    platform === null ? `admin-api ${config.adminApi.url}` : `platform ${platform}`,
    `api ${api}`,
    ...deployments.map(({ url }) => `deployment ${url}`),
    `temporal ${temporal}`,
    ...(temporalUi === null ? [] : [`ui ${temporalUi}`]),
    ...(metricsUrl === undefined ? [] : [`metrics ${metricsUrl}`]),
  ].join(' ');
  const sites = Object.entries(config.sites);
  const webhookBase = apiPublicUrl ?? api;
  const webhooks = sites.flatMap(([site, { webhooks }]) =>
    Object.keys(webhooks).map((source) => `${webhookBase}/webhooks/${site}/${source}`),
  );
  const blocks: [title: string, lines: string[]][] = [
    ['Sites page: the state of your sites, and actions', [`${pagesUrl(api)}/`]],
    ['  to sign in, once within 15 minutes; later: galley open', [signInUrl]],
    ['Webhook: enter this URL in your CMS', webhooks],
    ['Your site: what is deployed, after the first export', deployments.map((each) => servedLine(each, config))],
    [
      'Dashboard of the platform: projects, exports, keys, members',
      platform === null ? [] : [`${pagesUrl(platform)}/`],
    ],
    ['  for its first administrator, once within 24 hours', setupUrl === undefined ? [] : [setupUrl]],
    ['Admin API: its documentation', platform === null ? [] : [`${pagesUrl(platform)}/docs/`]],
    ['Temporal: every workflow and its history', temporalUi === null ? [] : [`${temporalUi}/`]],
  ];
  const shown = blocks.filter(([, lines]) => lines.length > 0);
  const hint = sites.length === 0 ? '\nNo sites yet: galley init writes a galley.yaml.\n' : '';
  return `${line}\n${shown.map(([title, lines]) => `\n${title}\n${lines.map((each) => `  ${each}`).join('\n')}`).join('')}\n${hint}`;
}

function servedLine({ url, valuesFile }: { url: string; valuesFile: string }, { sites }: GalleyConfig): string {
  const owner = Object.entries(sites).find(([, { export: settings }]) =>
    settings.deployments.some((each) => each.valuesFile === valuesFile),
  );
  return `${url}/  ${owner === undefined ? relative(process.cwd(), valuesFile) : owner[0]}`;
}
