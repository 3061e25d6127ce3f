import type { Octokit } from '@octokit/rest';
import type { Logger } from 'pino';
import { type ForgeKind, type ForgeUrls, forgeUrls, type RepositoryName } from './forge-urls.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import { createOctokitClients, type ForgeAuth } from './octokit-clients.ts';
import { type Step, toForgeError } from './refusal.ts';

type ConnectionOptions = {
  name: string;
  kind: ForgeKind;
  url?: string | undefined;
  auth: ForgeAuth;
  timeoutMs: number;
  logger?: Logger | undefined;
};

export type RepositoryTarget = { owner: string; repo: string };

/** A hosted forge with its credentials: each step ends with its result or a ForgeError. */
export type Connection = {
  urls: ForgeUrls;
  attempt<T>(
    repository: RepositoryName | null,
    step: Omit<Step, 'at'>,
    run: (client: Octokit, target: RepositoryTarget) => Promise<T>,
  ): Promise<T>;
  tokenFor(repository: RepositoryName): Promise<string>;
};

/** @throws TypeError if the url or the credentials are unusable. */
export function connect({ name, kind, url, auth, timeoutMs, logger }: ConnectionOptions): Connection {
  const urls = forgeUrls(kind, url);
  const { apiUrl } = urls;
  const fetch = createGuardedFetch({ name, apiUrl, timeoutMs, logger });
  const { credential, clientFor, forget, tokenFor } = createOctokitClients({ name, apiUrl, auth, fetch, logger });

  async function attempt<T>(
    repository: RepositoryName | null,
    { doing, right }: Omit<Step, 'at'>,
    run: (client: Octokit, target: RepositoryTarget) => Promise<T>,
  ): Promise<T> {
    try {
      return await run(await clientFor(repository), { owner: repository?.owner ?? '', repo: repository?.name ?? '' });
    } catch (error) {
      const at = repository && `${repository.owner}/${repository.name}`;
      const failure = toForgeError(error, { name, credential, step: { doing, right, at } });
      if ([401, 403, 404].includes(failure.status ?? 0)) forget(repository);
      if (failure.retryAfterMs !== null) {
        logger?.warn(
          { forge: name, status: failure.status, retryAfterMs: failure.retryAfterMs },
          'the forge asks to wait',
        );
      }
      throw failure;
    }
  }

  return {
    urls,
    attempt,
    tokenFor: (repository) =>
      attempt(repository, { doing: 'give git a token', right: null }, () => tokenFor(repository)),
  };
}
