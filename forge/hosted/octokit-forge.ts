import type { Octokit } from '@octokit/rest';
import { cutText } from '../../contract/cut-text.ts';
import type { Forge, ForgeReader, ForgeWriter } from '../forge.ts';
import { createBranchPullRequests } from './branch-pull-requests.ts';
import type { Connection, RepositoryTarget } from './connection.ts';
import type { PullRequestName } from './forge-urls.ts';
import { refusalOf } from './refusal.ts';
import { requestReviews } from './request-reviews.ts';
import type { Dialect } from './responses.ts';
import { blobResponse, changedFile, fileResponse, listOf, pullRequestResponse, reviewResponse } from './responses.ts';
import { readReview, readReviews } from './reviews.ts';

const MAIL = /^[^\s"'<>():@]{1,100}@[^\s"'<>():@]+\.[^\s"'<>():@]+$/;
const LOGIN = /^[A-Za-z0-9_.-]{1,100}(?:\[bot\])?$/;

/** A forge with GitHub's REST API, through octokit. */
export function createOctokitForge(connection: Connection, dialect: Dialect): Forge {
  return { ...createWriter(connection, dialect), ...createReader(connection, dialect) };
}

type PullRequestTarget = RepositoryTarget & { pull_number: number };

/** Runs a step on the pull request with this page URL. */
function onPullRequest<T>(
  { urls, attempt }: Connection,
  url: string,
  step: { doing: string; right: string },
  run: (client: Octokit, target: PullRequestTarget, named: PullRequestName) => Promise<T>,
): Promise<T> {
  const named = urls.pullRequestOf(url);
  return attempt(named, step, (client, target) => run(client, { ...target, pull_number: named.number }, named));
}

async function read(client: Octokit, target: PullRequestTarget) {
  return pullRequestResponse.parse((await client.rest.pulls.get(target)).data);
}

function createWriter(connection: Connection, dialect: Dialect): ForgeWriter {
  const { urls, attempt, tokenFor } = connection;
  const { rights } = dialect;
  const { accepted, findOpen, keepOldest, findClosed } = createBranchPullRequests(urls, dialect);
  return {
    async findPullRequest({ repository, branch }) {
      const step = { doing: 'list pull requests', right: rights.readPullRequests };
      return attempt(urls.repositoryOf(repository), step, async (client, { owner, repo }) => {
        const target = { owner, repo, branch };
        return (await findOpen(client, target)) ?? findClosed(client, target);
      });
    },

    async openPullRequest({ repository, branch, base, title, body }) {
      const step = { doing: 'open a pull request', right: rights.writePullRequests };
      return attempt(urls.repositoryOf(repository), step, async (client, target) => {
        const open = () => keepOldest(client, { ...target, branch });
        const text = { title: fitTitle(title), body: fitBody(body) };
        const existing = await open();
        if (existing) return existing;
        try {
          const { data } = await client.rest.pulls.create({ ...target, head: branch, base, ...text });
          const created = accepted(dialect.toPullRequest(pullRequestResponse.parse(data)));
          const kept = dialect.opensTwo ? await open() : null;
          return kept ?? created;
        } catch (error) {
          // Someone else was faster, or the first attempt was and its response was lost.
          const refusal = refusalOf(error);
          const other = refusal && dialect.isDuplicate(refusal) ? await open() : null;
          if (other) return other;
          throw error;
        }
      });
    },

    async updatePullRequest(url, { title, body }) {
      const step = { doing: 'change the pull request', right: rights.writePullRequests };
      const change = {
        ...(title === undefined ? {} : { title: fitTitle(title) }),
        ...(body === undefined ? {} : { body: fitBody(body) }),
      };
      return onPullRequest(connection, url, step, async (client, target) => {
        if (Object.keys(change).length === 0) return dialect.toPullRequest(await read(client, target));
        const { data } = await client.rest.pulls.update({ ...target, ...change });
        return dialect.toPullRequest(pullRequestResponse.parse(data));
      });
    },

    async gitCredentials(repository) {
      const { overHttp, ...named } = urls.repositoryOf(repository);
      return overHttp ? { username: dialect.gitUsername, password: await tokenFor(named) } : null;
    },
  };
}

function createReader(connection: Connection, dialect: Dialect): ForgeReader {
  const { urls, attempt } = connection;
  const { rights } = dialect;
  const reading = { doing: 'read the pull request', right: rights.readPullRequests };

  async function findPerson(find: (client: Octokit) => Promise<string | null>): Promise<string | null> {
    const step = { doing: 'look people up', right: rights.readUsers };
    return attempt(null, step, (client) =>
      find(client).catch((error: unknown) => {
        // No such person, or an address that the search rejects.
        if ([404, 422].includes(refusalOf(error)?.status ?? 0)) return null;
        throw error;
      }),
    );
  }

  return {
    async readPullRequest(url) {
      return onPullRequest(connection, url, reading, async (client, target) => {
        const pullRequest = dialect.toPullRequest(await read(client, target));
        const ask = (page: number) => client.rest.pulls.listReviews({ ...target, ...dialect.pageSize, page });
        return { ...pullRequest, ...readReviews(await listOf(reviewResponse, ask), pullRequest.author) };
      });
    },

    async readReview(url, id) {
      return onPullRequest(connection, url, reading, (client, target) => readReview(client, { dialect, target, id }));
    },

    async listChangedFiles(url) {
      return onPullRequest(connection, url, reading, async (client, target) => {
        const ask = (page: number) => client.rest.pulls.listFiles({ ...target, ...dialect.pageSize, page });
        const files = await listOf(changedFile, ask);
        const paths = files.flatMap(({ filename, previous_filename }) => [previous_filename || filename, filename]);
        return [...new Set(paths)];
      });
    },

    async readCodeOwners(url) {
      const { baseBranch } = await onPullRequest(connection, url, reading, async (client, target) =>
        dialect.toPullRequest(await read(client, target)),
      );
      const step = { doing: 'read CODEOWNERS', right: rights.readFiles };
      return attempt(urls.pullRequestOf(url), step, (client, target) =>
        readFirstFile(client, { ...target, paths: dialect.codeOwnersPaths, branch: baseBranch }),
      );
    },

    async requestReviews(url, requests) {
      const step = { doing: 'ask for reviews', right: rights.writePullRequests };
      return onPullRequest(connection, url, step, (client, target) =>
        requestReviews(client, { dialect, target, requests }),
      );
    },

    async findLogin(mail) {
      if (!MAIL.test(mail)) return null;
      return findPerson((client) => dialect.findLogin(client, mail));
    },

    async findMail(login) {
      if (!LOGIN.test(login)) return null;
      return findPerson((client) => dialect.findMail(client, login));
    },

    async reviewLink() {
      return null;
    },
  };
}

/** The first of these files at a branch, as text; null if there is none. A folder of that name doesn't count. */
async function readFirstFile(
  client: Octokit,
  { paths, branch, ...target }: RepositoryTarget & { paths: readonly string[]; branch: string },
): Promise<string | null> {
  for (const path of paths) {
    const response = await client.rest.repos.getContent({ ...target, path, ref: branch }).catch((error: unknown) => {
      if (refusalOf(error)?.status === 404) return null;
      throw error;
    });
    const file = response && fileResponse.parse(response.data);
    if (!file) continue;
    if (file.encoding === 'base64') return decode(file.content ?? '');
    // GitHub omits contents over 1 MB.
    const blob = await client.rest.git.getBlob({ ...target, file_sha: file.sha });
    return decode(blobResponse.parse(blob.data).content);
  }
  return null;
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}

/** The limit is 256 characters on GitHub, 255 on Gitea. */
const MAX_TITLE_LENGTH = 255;

/** GitHub's limit is 65,536 characters. */
const MAX_BODY_LENGTH = 65_000;

/** A title for any forge: one line, no control characters, cut if too long. */
export function fitTitle(title: string): string {
  return cut(title.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), MAX_TITLE_LENGTH);
}

/** A text for any forge: without NUL, which their databases can't store, and cut if too long. */
export function fitBody(body: string): string {
  return cut(body.replaceAll('\0', ''), MAX_BODY_LENGTH);
}

/** Limits the length in UTF-16 units, as the strictest forge counts. */
function cut(text: string, maxLength: number): string {
  const whole = text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
  return whole.length <= maxLength ? whole : `${cutText(whole, maxLength - 1)}…`;
}
