import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { Settings } from '../settings/environment.ts';
import { checkReviews } from './check-reviews.ts';
import { loadGalleyConfig } from './config.ts';

/** To check galley.yaml before there is a platform and a key. */
export const STAND_IN = { url: 'http://127.0.0.1', key: 'made-at-the-first-start' };

/** The orchestrator calls the embedded platform unless the variables name another Admin API. */
export async function loadConfiguration(
  { adminApiUrl, configPath, variables }: Pick<Settings, 'adminApiUrl' | 'configPath' | 'variables'>,
  own: { url: string; key: string },
): Promise<GalleyConfig> {
  const env = adminApiUrl === undefined ? { ...variables, ADMIN_API_URL: own.url, ADMIN_API_KEY: own.key } : variables;
  return await loadGalleyConfig({ path: configPath, env });
}

/**
 * Reads galley.yaml as `up` does before it starts anything: without ADMIN_API_URL, the embedded platform is assumed.
 * @throws ConfigurationError with a line for each mistake
 */
export async function checkConfiguration(settings: Settings): Promise<GalleyConfig> {
  const config = await loadConfiguration(settings, STAND_IN);
  checkReviews(config, { ownPlatform: settings.adminApiUrl === undefined });
  return config;
}
