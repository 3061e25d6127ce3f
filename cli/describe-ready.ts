import { relative } from 'node:path';
import type { GalleyConfig } from '../contract/galley-config.ts';
import type { Settings } from '../programs/settings/environment.ts';
import type { Everything } from '../programs/up.ts';

type Ready = Pick<Everything, 'addresses' | 'config' | 'signInUrl' | 'setupUrl'> & {
  settings: Pick<Settings, 'apiPublicUrl'>;
  metricsUrl: string | undefined;
};

/** The text after `ready`: all URLs in one line for programs, then each with what it is for. */
export function describeReady({ addresses, config, signInUrl, setupUrl, settings, metricsUrl }: Ready): string {
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
  const webhookBase = settings.apiPublicUrl ?? api;
  const webhooks = sites.flatMap(([site, { webhooks }]) =>
    Object.keys(webhooks).map((source) => `${webhookBase}/webhooks/${site}/${source}`),
  );
  const blocks: [title: string, lines: string[]][] = [
    ['Sites page: the state of your sites, and actions', [`${api}/`]],
    ['  to sign in, once within 15 minutes; later: galley open', [signInUrl]],
    ['Webhook: enter this URL in your CMS', webhooks],
    ['Your site: what is deployed, after the first export', deployments.map((each) => servedLine(each, config))],
    ['Dashboard of the platform: projects, exports, keys, members', platform === null ? [] : [`${platform}/`]],
    ['  for its first administrator, once within 24 hours', setupUrl === undefined ? [] : [setupUrl]],
    ['Admin API: its documentation', platform === null ? [] : [`${platform}/docs/`]],
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
