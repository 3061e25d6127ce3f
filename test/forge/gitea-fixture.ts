import { z } from 'zod';
import { createForge } from '../../forge/create-forge.ts';
import { freePort } from '../helpers/free-port.ts';
import { type GiteaUser, startGitea, type TestGitea } from '../helpers/gitea.ts';
import { startSilentServer } from '../helpers/silent-server.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { FileChanges, ForgeFixture, ForgeSides, Person, Place, TestRepository } from './forge-fixture.ts';

export type GiteaFixture = ForgeFixture & { gitea: TestGitea; bot: GiteaUser; reviewer: GiteaUser };

/** A Gitea with the organization `acme`. The bot and two reviewers may write to all of its repositories. */
export async function startGiteaFixture(options: { signsMerges?: boolean } = {}): Promise<GiteaFixture> {
  const gitea = await startGitea(options);
  const { admin, call } = gitea;
  const [bot, ada, grace, hidden] = await Promise.all([
    gitea.createUser('galley-bot'),
    gitea.createUser('ada'),
    gitea.createUser('grace'),
    gitea.createUser('hidden', { hidesMail: true }),
  ]);
  await call(admin, 'POST', '/orgs', { username: 'acme' });
  const units = ['repo.code', 'repo.pulls'];
  const team = { name: 'docs', permission: 'write', includes_all_repositories: true, units };
  const { id } = z.object({ id: z.int() }).parse(await call(admin, 'POST', '/orgs/acme/teams', team));
  for (const { login } of [bot, ada, grace]) await call(admin, 'PUT', `/teams/${id}/members/${login}`);

  // Gitea responds late while other tests run; the timeout only stops a call that hangs.
  const both = (token: string, url = gitea.url, timeoutMs = 300_000) => {
    const forge = createForge({ kind: 'gitea', url, auth: { token }, timeoutMs });
    return { writer: forge, reader: forge } satisfies ForgeSides;
  };
  const elsewhere = (port: number): ForgeSides & Place => {
    const url = `http://127.0.0.1:${port}`;
    return {
      ...both(bot.token, url, 500),
      at: { repository: `${url}/acme/docs.git`, url: `${url}/acme/docs/pulls/1` },
    };
  };
  const silent = await startSilentServer();
  const { writer, reader } = both(bot.token, `${gitea.url}/api/v1`);
  const person = ({ login, mail }: GiteaUser): Person => ({ login, mail });
  let repositories = 0;
  return {
    gitea,
    bot,
    reviewer: ada,
    writer,
    reader,
    commentsOnLines: true,
    people: {
      author: person(bot),
      reviewers: [person(ada), person(grace)],
      unknown: 'nobody-of-here',
      hidden: person(hidden),
    },
    async createRepository(files) {
      repositories += 1;
      return createRepository(gitea, { name: `docs-${repositories}`, files, people: [ada, grace] });
    },
    unknownRepository: `${gitea.url}/acme/unknown.git`,
    wrongToken: both('0123456789abcdef0123456789abcdef01234567'),
    lackingRights: { ...both(await gitea.createToken(bot, ['read:user'])), right: /(read|write):repository/ },
    away: elsewhere(await freePort()),
    hanging: elsewhere(silent.port),
    async stop() {
      await silent.stop();
      await gitea.stop();
    },
  };
}

const VERDICTS = { approved: 'APPROVED', 'changes-requested': 'REQUEST_CHANGES', commented: 'COMMENT' } as const;

async function createRepository(
  { url, admin, call }: TestGitea,
  { name, files, people }: { name: string; files: FileChanges; people: readonly GiteaUser[] },
): Promise<TestRepository> {
  await call(admin, 'POST', '/orgs/acme/repos', { name, auto_init: true, default_branch: 'main' });
  const path = `/repos/acme/${name}`;
  const pull = (page: string): string => `${path}/pulls/${page.split('/').at(-1)}`;

  async function commit(branch: string, changes: FileChanges): Promise<string> {
    const known = await call(admin, 'GET', `${path}/branches/${encodeURIComponent(branch)}`).catch(() => undefined);
    const from = known === undefined ? 'main' : branch;
    const tree = z
      .object({ tree: z.array(z.object({ path: z.string(), sha: z.string() })) })
      .parse(await call(admin, 'GET', `${path}/git/trees/${encodeURIComponent(from)}?recursive=true&per_page=1000`));
    const body = {
      branch: from,
      new_branch: branch,
      message: `Change ${Object.keys(changes).length} files`,
      files: Object.entries(changes).map(([file, content]) => {
        const sha = tree.tree.find((each) => each.path === file)?.sha;
        const operation = content === null ? 'delete' : sha === undefined ? 'create' : 'update';
        return { operation, path: file, sha, content: Buffer.from(content ?? '').toString('base64') };
      }),
    };
    const response = await call(admin, 'POST', `${path}/contents`, body);
    return z.object({ commit: z.object({ sha: z.string() }) }).parse(response).commit.sha;
  }

  await commit('main', files);
  return {
    repository: `${url}/acme/${name}.git`,
    commit,
    async merge(page) {
      // Gitea first checks for conflicts in the background, and responds "try again later" until then.
      await waitFor(() => call(admin, 'POST', `${pull(page)}/merge`, { Do: 'merge' }).then(() => true), {
        describe: 'merged',
      });
      const main = await call(admin, 'GET', `${path}/branches/main`);
      return z.object({ commit: z.object({ id: z.string() }) }).parse(main).commit.id;
    },
    async close(page) {
      await call(admin, 'PATCH', pull(page), { state: 'closed' });
    },
    async review(page, { login }, verdict, { body, comments } = { body: 'Read it.', comments: [] }) {
      const by = people.find((each) => each.login === login);
      if (!by) throw new Error(`${login} is no reviewer of the fixture`);
      await call(by, 'POST', `${pull(page)}/reviews`, {
        event: VERDICTS[verdict],
        body,
        comments: comments.map(({ path, line, body: remark }) => ({ path, new_position: line, body: remark })),
      });
    },
  };
}
