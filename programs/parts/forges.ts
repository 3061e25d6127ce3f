import type { Logger } from 'pino';
import { errorText } from '../../base/error-code.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import { createForge } from '../../forge/create-forge.ts';
import { createEmbeddedForgeReader } from '../../forge/embedded.ts';
import type { ForgeReader, ForgeWriter } from '../../forge/forge.ts';
import { ForgeError } from '../../forge/forge-error.ts';
import type { ForgeSettings } from '../settings/platform.ts';

interface PlatformForges {
  hosted: ForgeSettings | undefined;
  /** The forge for repositories on the platform's own disk. */
  embedded: ForgeWriter;
  logger: Logger;
}

/**
 * The forge of a repository: the embedded one for `file://`, otherwise the one configured by FORGE_…. The returned
 * function throws a `ForgeError` if none is configured.
 * @throws ConfigurationError if FORGE_URL or the credentials are unusable.
 */
export function forgesOf({ hosted, embedded, logger }: PlatformForges): (repository: string) => ForgeWriter {
  const forge = hosted === undefined ? undefined : namedSetting('FORGE_URL', () => createForge({ ...hosted, logger }));
  return (repository) => {
    if (/^file:/i.test(repository)) return embedded;
    if (forge !== undefined) return forge;
    throw new ForgeError(
      'No forge is configured for this repository: set FORGE_KIND, and FORGE_TOKEN or FORGE_APP_ID with ' +
        "FORGE_APP_PRIVATE_KEY, for the platform's worker.",
      { status: null, retryable: false },
    );
  };
}

/**
 * The forge that the orchestrator reads; undefined without `forge` in galley.yaml.
 * @throws ConfigurationError if the section, which `checkReviews` found complete, is unusable.
 */
export function forgeReaderOf(section: GalleyConfig['forge'], logger: Logger): ForgeReader | undefined {
  if (section?.token === undefined) return undefined;
  const { kind, url, token } = section;
  if (kind !== 'embedded') return namedSetting('forge.url', () => createForge({ kind, url, auth: { token }, logger }));
  return url === undefined ? undefined : createEmbeddedForgeReader({ url, operatorToken: token });
}

/**
 * Opens the forge of galley.yaml for pull requests of deployments, with another token if one is given. The embedded forge
 * opens pull requests of its own agents only.
 */
export function forgeOpenerOf(section: GalleyConfig['forge'], logger: Logger) {
  return (token = section?.token): ForgeWriter | undefined => {
    if (section === undefined || section.kind === 'embedded' || token === undefined) return undefined;
    const { kind, url } = section;
    return createForge({ kind, url, auth: { token }, logger });
  };
}

/** Translates the forges' option names into those of the configuration. */
function namedSetting<T>(name: string, create: () => T): T {
  try {
    return create();
  } catch (error) {
    throw error instanceof TypeError ? new ConfigurationError([`${name}: ${errorText(error)}`]) : error;
  }
}
