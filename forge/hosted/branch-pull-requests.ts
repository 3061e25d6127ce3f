import type { Octokit } from '@octokit/rest';
import type { PullRequest } from '../forge.ts';
import { ForgeError } from '../forge-error.ts';
import type { RepositoryTarget } from './connection.ts';
import type { ForgeUrls } from './forge-urls.ts';
import type { Dialect } from './responses.ts';

type BranchTarget = RepositoryTarget & { branch: string };

/** Finds the pull requests of one branch. */
export function createBranchPullRequests(urls: ForgeUrls, dialect: Dialect) {
  /** The forge's own page URLs must be ones that the other methods accept. */
  function accepted(pullRequest: PullRequest): PullRequest {
    try {
      urls.pullRequestOf(pullRequest.url);
      return pullRequest;
    } catch {
      const { origin } = new URL(pullRequest.url);
      const message = `${dialect.name} names its pages under ${origin}, not ${urls.webUrl}: set the forge's url to that`;
      throw new ForgeError(message, { status: null, retryable: false });
    }
  }

  /** Newest first. */
  async function listOpen(client: Octokit, target: BranchTarget): Promise<PullRequest[]> {
    const open: PullRequest[] = [];
    for await (const found of dialect.pullRequestsOf(client, { ...target, state: 'open' })) {
      open.push(accepted(dialect.toPullRequest(found)));
    }
    return open;
  }

  /** The oldest, so that if there are two by mistake every call returns the same one. */
  async function findOpen(client: Octokit, target: BranchTarget): Promise<PullRequest | null> {
    return (await listOpen(client, target)).at(-1) ?? null;
  }

  /** The same, but closes the younger ones: the call that opened one of them may have ended before it could. */
  async function keepOldest(client: Octokit, at: BranchTarget): Promise<PullRequest | null> {
    const { branch, ...target } = at;
    const open = await listOpen(client, at);
    const oldest = open.pop() ?? null;
    for (const { number, baseBranch } of dialect.opensTwo ? open : []) {
      // The same branch with another base is no mistake.
      if (baseBranch !== oldest?.baseBranch) continue;
      await client.rest.pulls.update({ ...target, pull_number: number, state: 'closed' });
    }
    return oldest;
  }

  async function findClosed(client: Octokit, target: BranchTarget): Promise<PullRequest | null> {
    const closed = dialect.pullRequestsOf(client, { ...target, state: 'closed' });
    for await (const newest of closed) return accepted(dialect.toPullRequest(newest));
    return null;
  }

  return { accepted, findOpen, keepOldest, findClosed };
}
