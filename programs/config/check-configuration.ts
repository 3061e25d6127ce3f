import { readSender } from '../../activities/mails/message/compose-mail.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { Settings } from '../settings/environment.ts';
import { loadGalleyConfig } from './galley-yaml.ts';

/** Placeholders to check galley.yaml before there is a platform and a key. */
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

/**
 * Checks galley.yaml across keys: whether agent rules, mail and the forge have everything they need.
 * @param ownPlatform the embedded platform is used, which knows its projects and its forge's URL.
 * @throws ConfigurationError with a line for each key.
 */
export function checkReviews(config: GalleyConfig, { ownPlatform }: { ownPlatform: boolean }): void {
  const problems = [
    ...senderProblems(config.smtp),
    ...(ownPlatform && config.forge?.kind === 'embedded' ? [] : forgeProblems(config.forge)),
    ...(ownPlatform ? [] : projectProblems(config.sites)),
    ...(config.forge === undefined ? followUpProblems(config.sites) : []),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function senderProblems(smtp: GalleyConfig['smtp']): readonly string[] {
  try {
    if (smtp !== undefined) readSender(smtp.from);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

function forgeProblems(forge: GalleyConfig['forge']): string[] {
  if (forge === undefined) return [];
  const { kind, url, token } = forge;
  return [
    ...(url === undefined && kind === 'gitea' ? ['forge.url: expected the URL of your Gitea'] : []),
    ...(url === undefined && kind === 'embedded' ? ["forge.url: expected the platform's URL"] : []),
    ...(token === undefined && kind === 'embedded' ? ["forge.token: expected the platform's OPERATOR_TOKEN"] : []),
    ...(token === undefined && kind !== 'embedded'
      ? ['forge.token: expected an access token that may read pull requests and ask for reviews']
      : []),
  ];
}

/** Another Admin API may name its projects differently. */
function projectProblems(sites: GalleyConfig['sites']): string[] {
  return Object.entries(sites)
    .filter(([, { agent, projectId }]) => agent.length > 0 && projectId === undefined)
    .map(([site]) => `sites.${site}.projectId: expected the id of the project whose repository its agent rules change`);
}

/** A webhook doesn't have all comments of a review. */
function followUpProblems(sites: GalleyConfig['sites']): string[] {
  return Object.entries(sites).flatMap(([site, { agent }]) =>
    agent.flatMap(({ followUps }, index) =>
      followUps === undefined
        ? []
        : [`sites.${site}.agent.${index}.followUps: expected the section forge, where the reviews are read`],
    ),
  );
}
