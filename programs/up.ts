import type { Logger } from 'pino';
import type { GalleyConfig } from '../contract/galley-config.ts';
import type { Admin } from '../platform/admin/admin.ts';
import { createSignInLinks, type OwnersDashboard } from '../web/sign-in-links.ts';
import { startApi } from './api.ts';
import { loadConfiguration, STAND_IN } from './config/check-configuration.ts';
import { startDeployment } from './deployment.ts';
import { agentRunnerOf } from './parts/agents.ts';
import { connectForge, withForgeWebhooks } from './parts/connect-forge.ts';
import { ensureProjects } from './parts/ensure-projects.ts';
import { backupSources } from './process/backup-sources.ts';
import type { ProcessContext } from './process/context.ts';
import {
  FORGE_SECRET_FILE,
  type Home,
  OPERATOR_TOKEN_FILE,
  type RunningAddresses,
  UNSUBSCRIBE_SECRET_FILE,
} from './process/home.ts';
import { pagesUrl } from './process/serve.ts';
import { deleteUnlisted } from './process/unlisted-deployments.ts';
import type { Settings } from './settings/environment.ts';
import { startWorkerRuntime } from './temporal/runtime.ts';
import type { Temporal } from './temporal/temporal.ts';
import { chooseTemporal, type UpContext } from './up/choose-temporal.ts';
import { startControlServer } from './up/control-server.ts';
import type { PlannedDeployment, Prepared } from './up/prepare.ts';
import { linksTo, sitesPageOf } from './up/sites-page.ts';
import { type RunningPlatform, startOwnPlatform } from './up/start-platform.ts';
import { startWorker } from './worker.ts';

type Sites = GalleyConfig['sites'];

export interface Everything {
  addresses: RunningAddresses;
  /** The URL of the workers' metrics; undefined: there are none. */
  metricsUrl: string | undefined;
  temporal: Temporal;
  /** Undefined: an Admin API elsewhere is used. */
  admin: Admin | undefined;
  operatorToken: string;
  config: GalleyConfig;
  /** Signs in to the sites page once, within 15 minutes. */
  signInUrl: string;
  /** The first administrator's link to the platform's dashboard; undefined if there are members. */
  setupUrl: string | undefined;
}

/**
 * Starts Temporal, the database, the platform, the orchestrator and a deployment for each values file, all in this
 * process except Temporal. If ADMIN_API_URL names an Admin API elsewhere, without database and platform. Resolves when
 * everything responds.
 */
export async function startEverything(
  { home, deployments: planned, platformMail }: Prepared,
  given: ProcessContext,
): Promise<Everything> {
  const { logger, lifetime } = given;
  const settings = { ...given.settings, platformMail };
  const metrics = await startWorkerRuntime('up', given);
  // A wrong AGENT_COMMAND is reported before the database starts.
  if (settings.adminApiUrl === undefined) agentRunnerOf(settings, logger);
  const operatorToken = await keepOperatorToken(settings, home);
  const context = { settings, home, logger, lifetime };
  const { temporal, searchAttributes, uiUrl, copyTo } = await chooseTemporal(context);
  const temporalUiUrl = settings.temporalUiUrl ?? uiUrl ?? undefined;
  const links = { sites: createSignInLinks(), dashboard: createSignInLinks() };
  let apiUrl = '';
  let sites: Sites = {};
  const sitesPage = sitesPageOf(
    { temporal, searchAttributes, uiUrl: temporalUiUrl, links, logger },
    { sites: () => sites, apiUrl: () => apiUrl },
  );
  const platform =
    settings.adminApiUrl === undefined
      ? await startOwnPlatform({ temporal, searchAttributes, operatorToken, sitesPage }, context)
      : undefined;
  const loaded = await loadConfiguration(settings, platform ?? STAND_IN);
  const config = platform ? await onOwnPlatform(loaded, { ...platform, operatorToken }) : loaded;
  sites = config.sites;
  if (platform === undefined) reportIgnoredOrigins(config, logger);

  const orchestrator = { temporal, searchAttributes, logger, lifetime };
  const unsubscribeSecret = settings.unsubscribeSecret ?? (await home.secret(UNSUBSCRIBE_SECRET_FILE));
  const own = { ...settings, operatorToken, unsubscribeSecret, temporalUiUrl };
  const told = platform ? withForgeWebhooks(config.sites, await home.secret(FORGE_SECRET_FILE)) : config.sites;
  const dashboard: OwnersDashboard | undefined = platform && {
    open: linksTo(links.dashboard, () => `${platform.publicUrl}/ui/sign-in/link`),
    isOwner: platform.isOwner,
  };
  const toApi = { config: { ...config, sites: told }, settings: own, signInLinks: links.sites, dashboard };
  const api = await startApi(toApi, orchestrator);
  apiUrl = settings.apiPublicUrl ?? pagesUrl(api.url);
  if (platform) await connectForge(platform, told, api.url);
  const deployments = await startDeployments(planned, context);
  sites = platform ? withOwnStatus(config.sites, deployments) : config.sites;
  await startWorker({ config: { ...config, sites }, settings: own }, orchestrator);

  const control = await startControlServer(
    {
      operatorToken,
      sources: backupSources(settings, { temporal: copyTo, database: platform?.copyTo }),
      holdDeletes: platform?.holdDeletes ?? (() => () => undefined),
    },
    context,
  );
  const addresses = {
    platform: platform?.url ?? null,
    api: api.url,
    deployments,
    temporal: temporal.address,
    temporalUi: uiUrl,
    control,
  };
  await home.announce(addresses);
  lifetime.onStop('announcement', () => home.announce(null));
  const signInUrl = `${pagesUrl(api.url)}/ui/sign-in?link=${links.sites.create()}`;
  const [setupUrl, metricsUrl] = [platform?.setupUrl, metrics?.url];
  return { addresses, metricsUrl, temporal, admin: platform?.admin, operatorToken, config, signInUrl, setupUrl };
}

/** Stored even if it was configured, so that commands beside this `up` don't find one of an earlier start. */
async function keepOperatorToken({ operatorToken }: Settings, home: Home): Promise<string> {
  if (operatorToken === undefined) return await home.secret(OPERATOR_TOKEN_FILE);
  await home.writeSecret(OPERATOR_TOKEN_FILE, operatorToken);
  return operatorToken;
}

/**
 * Adds what only the embedded platform knows: the ids of its projects, and its forge's URL unless galley.yaml has it.
 */
async function onOwnPlatform(
  config: GalleyConfig,
  {
    admin,
    url,
    organization,
    operatorToken,
  }: Pick<RunningPlatform, 'admin' | 'url' | 'organization'> & { operatorToken: string },
): Promise<GalleyConfig> {
  const { forge } = config;
  return {
    ...config,
    sites: await ensureProjects(admin, config.sites, organization),
    ...(forge?.kind === 'embedded' ? { forge: { url, token: operatorToken, ...forge } } : {}),
  };
}

/**
 * Its own deployments report what they serve, so a site is live when it is served, not when it is written. Bundles of other
 * services are confirmed only if galley.yaml has a `statusUrl`.
 */
function withOwnStatus(sites: Sites, started: RunningAddresses['deployments']): Sites {
  const urls = new Map(started.map(({ valuesFile, url }) => [valuesFile, url]));
  const told = Object.entries(sites).map(([name, site]) => {
    const deployments = site.export.deployments.map((each) => {
      const url = each.host === undefined && each.valuesFile ? urls.get(each.valuesFile) : undefined;
      return url === undefined ? each : { ...each, statusUrl: each.statusUrl ?? `${url}/-/status` };
    });
    return [name, { ...site, export: { ...site.export, deployments } }] as const;
  });
  return Object.fromEntries(told);
}

/** Only the Admin API's own projects decide where a site is exported from. */
function reportIgnoredOrigins({ sites }: GalleyConfig, logger: Logger): void {
  for (const [site, { origin }] of Object.entries(sites)) {
    if (origin !== undefined)
      logger.warn(
        { site },
        `sites.${site}.origin has no effect: set it in the project at the Admin API in ADMIN_API_URL`,
      );
  }
}

/**
 * An invalid values file doesn't stop other parts: its deployment responds 503, shows the reason in its status, and
 * follows the file.
 */
async function startDeployments(
  planned: readonly PlannedDeployment[],
  context: UpContext,
): Promise<{ valuesFile: string; url: string }[]> {
  const started: { valuesFile: string; url: string }[] = [];
  for (const each of planned) {
    const { url } = await startDeployment(
      { ...each, sites: [{ valuesFile: each.valuesFile }], exitOnInvalidValues: false },
      context,
    );
    started.push({ valuesFile: each.valuesFile, url });
  }
  await deleteUnlisted(
    planned.map(({ valuesFile }) => valuesFile),
    context,
  );
  return started;
}
