import { createForge } from '../../forge/create-forge.ts';
import { freePort } from '../helpers/free-port.ts';
import { startGitHub, type TestGitHub } from '../helpers/github/server.ts';
import { closePull, commitTo, mergePull, type Pull, type Repository } from '../helpers/github/state.ts';
import { startSilentServer } from '../helpers/silent-server.ts';
import type { FileChanges, ForgeFixture, ForgeSides, Place, TestRepository } from './forge-fixture.ts';

export type GitHubFixture = ForgeFixture & {
  github: TestGitHub;
  /** The token of `people.author`. */
  token: string;
  addRepository(changes?: Partial<Repository>): Repository;
};

/** A fake GitHub Enterprise server with the bot and two collaborators. */
export async function startGitHubFixture(): Promise<GitHubFixture> {
  const github = await startGitHub();
  const { state, url } = github;
  state.accounts.push(
    { login: 'galley-bot', email: null },
    { login: 'ada', email: 'ada@example.com' },
    { login: 'grace', email: null },
    { login: 'hidden', email: null },
  );
  const token = 'github_pat_of_the_bot';
  state.tokens.set(token, { login: 'galley-bot', rights: 'write' });
  state.tokens.set('github_pat_without_rights', { login: 'galley-bot', rights: 'none' });

  const both = (auth: { token: string }, at = url, timeoutMs = 15_000): ForgeSides => {
    const forge = createForge({ kind: 'github', url: at, auth, timeoutMs });
    return { writer: forge, reader: forge };
  };
  const elsewhere = (port: number): ForgeSides & Place => {
    const at = `http://127.0.0.1:${port}`;
    return { ...both({ token }, at, 500), at: { repository: `${at}/acme/docs.git`, url: `${at}/acme/docs/pull/1` } };
  };
  const silent = await startSilentServer();
  const forge = createForge({ kind: 'github', url: `${url}/api/v3`, auth: { token } });

  function addRepository(changes: Partial<Repository> = {}): Repository {
    const id = state.repositories.length + 1;
    const repository: Repository = {
      ...{ id, owner: 'acme', name: `docs-${id}`, teams: ['writers'], collaborators: ['ada', 'grace'] },
      ...{ branches: new Map(), pulls: [] },
      ...changes,
    };
    state.repositories.push(repository);
    return repository;
  }

  return {
    github,
    token,
    addRepository,
    writer: forge,
    reader: forge,
    commentsOnLines: true,
    people: {
      author: { login: 'galley-bot', mail: null },
      reviewers: [
        { login: 'ada', mail: 'ada@example.com' },
        { login: 'grace', mail: null },
      ],
      unknown: 'nobody-of-here',
      hidden: { login: 'hidden', mail: 'hidden@example.com' },
    },
    createRepository: async (files) => testRepository(url, addRepository(), files),
    unknownRepository: `${url}/acme/unknown.git`,
    wrongToken: both({ token: 'github_pat_wrong' }),
    lackingRights: { ...both({ token: 'github_pat_without_rights' }), right: /(Pull requests|Contents): (read|write)/ },
    away: elsewhere(await freePort()),
    hanging: elsewhere(silent.port),
    async stop() {
      await silent.stop();
      await github.stop();
    },
  };
}

const STATES = { approved: 'APPROVED', 'changes-requested': 'CHANGES_REQUESTED', commented: 'COMMENTED' } as const;

function testRepository(url: string, repository: Repository, files: FileChanges): TestRepository {
  commitTo(repository, 'main', files);
  const pull = (page: string): Pull => {
    const found = repository.pulls.find(({ number }) => page.endsWith(`/${number}`));
    if (!found) throw new Error(`There is no pull request ${page}`);
    return found;
  };
  return {
    repository: `${url}/${repository.owner}/${repository.name}.git`,
    commit: async (branch, changes) => commitTo(repository, branch, changes),
    merge: async (page) => mergePull(repository, pull(page)),
    close: async (page) => closePull(pull(page)),
    async review(page, { login }, verdict, text) {
      pull(page).reviewers.delete(login);
      pull(page).reviews.push({ login, state: STATES[verdict], submittedAt: new Date().toISOString(), text });
    },
  };
}
