import { randomBytes } from 'node:crypto';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import { reportToStderr } from '../../embedded/report.ts';
import type { Admin } from '../admin/admin.ts';
import { adminOverHttp } from '../admin/admin-over-http.ts';
import { CommandError, UsageError } from '../command-error.ts';
import type { Context } from '../context.ts';
import type { Settings } from '../environment.ts';
import { OPERATOR_TOKEN_FILE, openHome } from '../home.ts';
import type { Lifetime } from '../lifetime.ts';
import { ADMIN_KEY_FILE, ensureProject } from '../up/first-organization.ts';
import type { AdminApi } from './admin-api-client.ts';

export interface PlatformOptions {
  domain: string;
  origin: string | undefined;
}

interface Deps {
  context: Context;
  lifetime: Lifetime;
  /** An empty folder for the state of a temporary platform. */
  folder: string;
}

/**
 * The service that exports: the one in the variables, the running `up`, or a temporary one. On the latter two, creates
 * the domain's project.
 */
export async function openPlatform(options: PlatformOptions, deps: Deps): Promise<AdminApi> {
  const { settings } = deps.context;
  if (settings.adminApiUrl !== undefined) return namedService(settings, options);
  return (await runningUp(settings, options)) ?? (await startTemporaryPlatform(options, deps));
}

function namedService({ adminApiUrl: url, adminApiKey: key }: Settings, { origin }: PlatformOptions): AdminApi {
  if (url === undefined || key === undefined)
    throw new ConfigurationError(['ADMIN_API_KEY: expected the key of the service that ADMIN_API_URL names']);
  if (origin !== undefined)
    throw new UsageError(`--origin is set on the project of ${url}, by galley projects set --origin where that runs`);
  return { url, key };
}

async function runningUp(settings: Settings, options: PlatformOptions): Promise<AdminApi | undefined> {
  const home = openHome(settings.home);
  const running = await home.running();
  if (!running?.platform) return undefined;
  const token = settings.operatorToken ?? (await home.readSecret(OPERATOR_TOKEN_FILE));
  const key = await home.readSecret(ADMIN_KEY_FILE);
  if (token === undefined || key === undefined)
    throw new CommandError(`${settings.home} lacks the keys of its galley up`);
  await prepareProject(adminOverHttp({ platformUrl: running.platform, token }), options);
  return { url: running.platform, key };
}

async function startTemporaryPlatform(
  options: PlatformOptions,
  { context, lifetime, folder }: Deps,
): Promise<AdminApi> {
  reportToStderr('Starting a platform for this export');
  const { installTemporalRuntime } = await import('../temporal-runtime.ts');
  const { chooseTemporal } = await import('../up/choose-temporal.ts');
  const { startPlatform } = await import('../up/start-platform.ts');
  const { logger } = context;
  const settings: Settings = {
    ...context.settings,
    home: folder,
    platformPort: 0,
    temporalPort: 0,
    temporalUiPort: 0,
    temporalConfigured: false,
    databaseUrl: undefined,
    objectStoreUrl: undefined,
    platformPublicUrl: undefined,
    encryptionKeys: [],
  };
  installTemporalRuntime(logger);
  const operatorToken = randomBytes(32).toString('base64url');
  const deps = { settings, home: openHome(folder), logger, lifetime };
  const { temporal, searchAttributes } = await chooseTemporal(deps);
  const { url, key, admin } = await startPlatform({ temporal, searchAttributes, operatorToken }, deps);
  await prepareProject(admin, options);
  return { url, key };
}

async function prepareProject(admin: Admin, { domain, origin }: PlatformOptions): Promise<void> {
  const project = await ensureProject(admin, { domain });
  if (origin !== undefined) await admin.setProject({ project, origin });
}
