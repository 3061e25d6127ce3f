import pino from 'pino';
import { plainText } from '../base/plain-reason.ts';
import { ConfigurationError } from '../contract/configuration-error.ts';
import type { GalleyConfig } from '../contract/galley-config.ts';
import { checkConfiguration, STAND_IN } from '../programs/config/check-configuration.ts';
import { targetDeps } from '../programs/parts/target-deps.ts';
import { createContext } from '../programs/process/context.ts';
import { ADMIN_KEY_FILE, openHome, type RunningAddresses } from '../programs/process/home.ts';
import type { Settings } from '../programs/settings/environment.ts';
import { checkPorts, planDeployments } from '../programs/up/prepare.ts';
import { formatCount } from '../ui/format.ts';
import { checkAdminApi } from './checks/admin-api.ts';
import { contradictions } from './checks/contradictions.ts';
import { checkDeployments, type TemporalTarget } from './checks/deployments.ts';
import { describeFinding, type Finding, fail, ok, warn } from './checks/finding.ts';
import { checkDevServer, checkDisk, checkEnvFile, checkGit, checkHome, checkNode } from './checks/machine.ts';
import { checkClock, checkDatabase, checkForge, checkObjectStore, checkSmtp } from './checks/services.ts';
import { checkSiteOrigin } from './checks/site-origin.ts';
import { checkTemporal } from './checks/temporal.ts';
import { CommandError, UsageError } from './command-error.ts';
import { printJson, printLines } from './output.ts';

/**
 * Runs the command `doctor`. Changes nothing except a small object and folders that it makes and deletes.
 * @throws UsageError if the configuration is wrong, CommandError if another check fails
 */
export async function doctor({ json }: { json?: boolean }): Promise<void> {
  const findings: Finding[] = [];
  const report = (...found: Finding[]): void => {
    findings.push(...found.map((each) => ({ ...each, message: plainText(each.message) })));
    if (!json) printLines(found.map(describeFinding));
  };
  report(checkNode());
  const settings = readContext(report);
  const config = settings && (await readConfiguration(settings, report));
  if (settings !== undefined) await checkEverything(settings, config, report);
  const failed = findings.filter(({ status }) => status === 'fail');
  const warned = findings.filter(({ status }) => status === 'warn');
  if (json) printJson({ ok: failed.length === 0, checks: findings });
  if (settings === undefined || failed.some(({ check }) => check === 'configuration'))
    throw new UsageError('The configuration is wrong: correct it and run galley doctor again');
  if (failed.length > 0) throw new CommandError(`${failed.length} of ${findings.length} checks failed`);
  if (!json) printLines([warned.length === 0 ? 'Everything is in order.' : `No check failed, ${warned.length} warn.`]);
}

type Report = (...found: Finding[]) => void;

function readContext(report: Report): Settings | undefined {
  try {
    return createContext({ quiet: true }).settings;
  } catch (error) {
    reportProblems(error, report);
    return undefined;
  }
}

async function readConfiguration(settings: Settings, report: Report): Promise<GalleyConfig | undefined> {
  const check = 'configuration';
  if (settings.configPath === undefined) {
    report(warn(check, 'there is no galley.yaml in this folder', 'Run galley init, or set GALLEY_CONFIG.'));
    return undefined;
  }
  try {
    const config = await checkConfiguration(settings);
    const found = contradictions(config, settings);
    const sites = formatCount(Object.keys(config.sites).length, 'site');
    if (found.length === 0) report(ok(check, `${settings.configPath} is correct: ${sites}`));
    else report(...found.map((each) => warn(check, each, 'galley config check rejects it.')));
    return config;
  } catch (error) {
    reportProblems(error, report);
    return undefined;
  }
}

function reportProblems(error: unknown, report: Report): void {
  if (!(error instanceof ConfigurationError)) throw error;
  report(...error.problems.map((problem) => fail('configuration', problem, 'See docs/configuration.md.')));
}

async function checkEverything(settings: Settings, config: GalleyConfig | undefined, report: Report): Promise<void> {
  const { home: folder, configPath, databaseUrl, objectStoreUrl } = settings;
  const home = openHome(folder);
  const running = await home.running();
  if (configPath !== undefined) report(...(await checkEnvFile(configPath)));
  report(await checkHome(folder), await checkDisk(folder));
  report(
    running === undefined
      ? await checkFreePorts(settings, config)
      : ok('up', `runs: sites page ${running.api}/, ${formatCount(running.deployments.length, 'deployment')}`),
  );
  report(...(await checkTemporalOf(settings, running)));
  report(...(await checkAdminApiOf(settings, config, running)));
  if (databaseUrl !== undefined) report(...(await checkDatabase(databaseUrl)));
  if (objectStoreUrl !== undefined) report(await checkObjectStore(objectStoreUrl));
  if (config?.smtp !== undefined) report(await checkSmtp(config.smtp));
  report(...(await checkForges(settings, config)));
  if (config !== undefined) await checkSites(config, { settings, temporal: temporalOf(settings, running) }, report);
}

/** Galley's own platform while it runs, otherwise what the variables or galley.yaml name. */
async function checkAdminApiOf(
  settings: Settings,
  config: GalleyConfig | undefined,
  running: RunningAddresses | undefined,
): Promise<Finding[]> {
  const named = config === undefined || config.adminApi.url === STAND_IN.url ? undefined : config.adminApi;
  const url = settings.adminApiUrl ?? named?.url ?? running?.platform ?? undefined;
  const key = settings.adminApiKey ?? named?.key ?? (await openHome(settings.home).readSecret(ADMIN_KEY_FILE));
  if (url === undefined || key === undefined) return [];
  const projectId = Object.values(config?.sites ?? {}).find((site) => site.projectId !== undefined)?.projectId;
  const found = await checkAdminApi({ url, key, projectId, staticExport: config?.adminApi.staticExport ?? 'auto' });
  const isHosted = settings.adminApiUrl !== undefined || named !== undefined;
  return [found, ...(isHosted ? await checkClock('the Admin API', url) : [])];
}

/** Checks the ports that `up` needs. On a machine with separate services, these are in use. */
async function checkFreePorts(settings: Settings, config: GalleyConfig | undefined): Promise<Finding> {
  const none: GalleyConfig = {
    adminApi: { url: '', key: '', staticExport: 'auto' },
    operators: [],
    notify: [],
    sites: {},
  };
  try {
    await checkPorts(settings, planDeployments(config ?? none, settings, openHome(settings.home)));
    return ok('ports', 'all that galley up needs are free');
  } catch (error) {
    const message = error instanceof Error ? (error.message.split(':')[0] ?? '') : String(error);
    return warn('ports', message, 'If that is not a service of Galley, stop it or change the port in the variable.');
  }
}

async function checkTemporalOf(settings: Settings, running: RunningAddresses | undefined): Promise<Finding[]> {
  const target = temporalOf(settings, running);
  return target === undefined ? [await checkDevServer(settings)] : await checkTemporal(target);
}

function temporalOf(settings: Settings, running: RunningAddresses | undefined): TemporalTarget {
  if (settings.temporalConfigured) return { settings };
  return running && { settings, embedded: { address: running.temporal, namespace: 'default' } };
}

async function checkForges({ forge }: Settings, config: GalleyConfig | undefined): Promise<Finding[]> {
  const findings: Finding[] = [];
  const section = config?.forge;
  if (section?.token !== undefined && section.kind !== 'embedded') {
    const { kind, url, token } = section;
    findings.push(await checkForge({ check: 'forge', kind, url, token, setting: 'forge.token' }));
  }
  if (forge !== undefined && 'token' in forge.auth) {
    const { kind, url, auth } = forge;
    findings.push(await checkForge({ check: 'platform-forge', kind, url, token: auth.token, setting: 'FORGE_TOKEN' }));
  }
  return findings;
}

type SitesContext = { settings: Settings; temporal: TemporalTarget };

async function checkSites(config: GalleyConfig, { settings, temporal }: SitesContext, report: Report): Promise<void> {
  const deps = targetDeps({ ...settings, config }, pino({ level: 'silent' }));
  let hasClock = settings.adminApiUrl !== undefined || settings.databaseUrl !== undefined;
  for (const [name, site] of Object.entries(config.sites)) {
    const check = `site ${name}`;
    const { domain, origin, export: exporting, agent } = site;
    // At a hosted Admin API, the project decides where the site is exported from.
    if (settings.adminApiUrl === undefined) {
      const found = await checkSiteOrigin(check, { domain, origin });
      report(found);
      if (!hasClock && found.status === 'ok') {
        report(...(await checkClock(`the server of ${name}`, origin ?? `https://${domain}`)));
        hasClock = true;
      }
    }
    report(...(await checkDeployments(check, exporting.deployments, { site: name, deps, temporal })));
    if (exporting.deployments.length === 0)
      report(warn(check, 'has no deployment', 'Name a valuesFile or another target under export.deployments.'));
    if (agent.length > 0) report(await checkGit(settings.variables.PATH));
  }
}
