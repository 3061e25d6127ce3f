import type { Logger } from 'pino';
import type { Forge } from './forge.ts';
import type { ForgeKind } from './hosted/addresses.ts';
import { connect } from './hosted/connection.ts';
import { gitea } from './hosted/gitea.ts';
import { github } from './hosted/github.ts';
import type { ForgeAuth } from './hosted/octokit-clients.ts';
import { createOctokitForge } from './hosted/octokit-forge.ts';

/** One HTTP call may take this long, connection and body included (design 4). */
const CALL_TIMEOUT_MS = 15_000;

export type CreateForgeOptions = {
  kind: ForgeKind;
  /** What people open, or the API; github.com where it is missing, and Gitea needs it. */
  url?: string | undefined;
  /** A token, or a GitHub App's number and private key (PEM; its line ends may be written as `\n`). */
  auth: ForgeAuth;
  logger?: Logger | undefined;
  /** For one call. */
  timeoutMs?: number | undefined;
};

/**
 * A hosted forge. No call is made here.
 * @throws TypeError where the url or the credentials can't be used; ForgeError from its methods.
 */
export function createForge({ kind, url, auth, logger, timeoutMs = CALL_TIMEOUT_MS }: CreateForgeOptions): Forge {
  if (kind === 'gitea' && !('token' in auth)) throw new TypeError('Gitea has no Apps: it needs a token');
  const dialect = kind === 'github' ? github : gitea;
  return createOctokitForge(connect({ name: dialect.name, kind, url, auth, logger, timeoutMs }), dialect);
}
