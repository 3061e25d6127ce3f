import { createPrivateKey } from 'node:crypto';
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import type { Logger } from 'pino';
import { z } from 'zod';
import { ForgeError } from '../forge-error.ts';
import type { RepositoryName } from './forge-urls.ts';
import type { createGuardedFetch } from './guarded-fetch.ts';
import { refusalOf, toForgeError } from './refusal.ts';

export type ForgeAuth = { token: string } | { appId: string | number; privateKey: string };

type OctokitClients = {
  /** Completes "refuses the …" in messages. */
  credential: string;
  /** The client for this repository; null for calls without one, such as looking up people. */
  clientFor(repository: RepositoryName | null): Promise<Octokit>;
  /** Forgets the repository's installation, which may be out of date. */
  forget(repository: RepositoryName | null): void;
  /** A token that git can use on this repository for some minutes at least. */
  tokenFor(repository: RepositoryName): Promise<string>;
};

/** A push may take long: a token that expires sooner is replaced. */
const TOKEN_MIN_LIFE_MS = 10 * 60_000;

/** An App that is removed and installed again gets another number. */
const INSTALLATION_KNOWN_FOR_MS = 10 * 60_000;

const installationToken = z.object({ token: z.string(), expiresAt: z.iso.datetime({ offset: true }) });

/** @throws TypeError immediately if the App's private key is unreadable. */
export function createOctokitClients(options: {
  name: string;
  apiUrl: string;
  auth: ForgeAuth;
  fetch: ReturnType<typeof createGuardedFetch>;
  logger?: Logger | undefined;
}): OctokitClients {
  const { name, apiUrl: baseUrl, auth, fetch, logger } = options;
  const nothing = (): void => {};
  const warn = (message: string): void => logger?.warn({ forge: name }, message);
  // Calls are logged by guarded-fetch.ts: octokit's own lines contain the query, and with it mail addresses.
  const log = { debug: nothing, info: nothing, warn, error: nothing };
  const common = { baseUrl, userAgent: 'galley', log, request: { fetch, log } };

  if ('token' in auth) {
    const client = new Octokit({ ...common, auth: auth.token });
    const tokenFor = async (): Promise<string> => auth.token;
    return { credential: 'token', clientFor: async () => client, forget: nothing, tokenFor };
  }

  const app = { appId: auth.appId, privateKey: readableKey(auth.privateKey) };
  const asApp = new Octokit({ ...common, authStrategy: createAppAuth, auth: app });
  const installations = new Map<string, { client: Promise<Octokit>; knownAtMs: number }>();

  async function install(repository: RepositoryName | null): Promise<Octokit> {
    const at = repository && `${repository.owner}/${repository.name}`;
    try {
      const installation = repository
        ? (await asApp.rest.apps.getRepoInstallation({ owner: repository.owner, repo: repository.name })).data
        : (await asApp.rest.apps.listInstallations({ per_page: 1 })).data[0];
      if (!installation)
        throw new ForgeError(`The ${name} App is installed nowhere`, { status: 404, retryable: false });
      const auth = { ...app, installationId: installation.id };
      return new Octokit({ ...common, authStrategy: createAppAuth, auth });
    } catch (error) {
      if (refusalOf(error)?.status === 404) {
        const message = `The ${name} App isn't installed at ${at} (404), or there is no such repository`;
        throw new ForgeError(message, { status: 404, retryable: false });
      }
      const step = { doing: 'find the App’s installation', at, right: null };
      throw toForgeError(error, { name, credential: "App's id or private key", step });
    }
  }

  async function clientFor(repository: RepositoryName | null): Promise<Octokit> {
    const key = keyOf(repository);
    const known = installations.get(key);
    if (known && Date.now() - known.knownAtMs < INSTALLATION_KNOWN_FOR_MS) return known.client;
    const client = install(repository);
    installations.set(key, { client, knownAtMs: Date.now() });
    client.catch(() => installations.delete(key));
    return client;
  }

  return {
    credential: "App's token",
    clientFor,
    forget: (repository) => installations.delete(keyOf(repository)),
    async tokenFor(repository) {
      const client = await clientFor(repository);
      const ask = async (refresh: boolean) =>
        installationToken.parse(await client.auth({ type: 'installation', refresh }));
      const kept = await ask(false);
      const lasts = Date.parse(kept.expiresAt) - Date.now() > TOKEN_MIN_LIFE_MS;
      return lasts ? kept.token : (await ask(true)).token;
    },
  };
}

function keyOf(repository: RepositoryName | null): string {
  return repository ? `${repository.owner}/${repository.name}`.toLowerCase() : '';
}

/** A key from an environment variable often has its line ends written as `\n`. */
function readableKey(privateKey: string): string {
  const key = privateKey.replaceAll('\\n', '\n');
  try {
    createPrivateKey(key);
  } catch {
    throw new TypeError("The App's private key can't be read: expected the PEM text that GitHub gave");
  }
  return key;
}
