import type { Logger } from 'pino';
import type { Forge } from './forge.ts';
import { connect } from './hosted/connection.ts';
import type { ForgeKind } from './hosted/forge-urls.ts';
import { gitea } from './hosted/gitea.ts';
import { github } from './hosted/github.ts';
import type { ForgeAuth } from './hosted/octokit-clients.ts';
import { createOctokitForge } from './hosted/octokit-forge.ts';

/** Timeout of one HTTP call, including connection and body. */
const CALL_TIMEOUT_MS = 15_000;

type CreateForgeOptions = {
  kind: ForgeKind;
  /** The web or API URL; default: github.com. Gitea needs it. */
  url?: string | undefined;
  /** A token, or a GitHub App's number and private key (PEM; its line ends may be written as `\n`). */
  auth: ForgeAuth;
  logger?: Logger | undefined;
  /** The limit for one call, in milliseconds. */
  timeoutMs?: number | undefined;
};

/**
 * A hosted forge. Makes no call yet.
 * @throws TypeError if the url or the credentials are unusable; ForgeError from its methods.
 */
export function createForge({ kind, url, auth, logger, timeoutMs = CALL_TIMEOUT_MS }: CreateForgeOptions): Forge {
  if (kind === 'gitea' && !('token' in auth)) throw new TypeError('Gitea has no Apps: it needs a token');
  const dialect = kind === 'github' ? github : gitea;
  return createOctokitForge(connect({ name: dialect.name, kind, url, auth, logger, timeoutMs }), dialect);
}
