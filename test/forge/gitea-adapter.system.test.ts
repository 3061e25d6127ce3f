import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createForge } from '../../forge/create-forge.ts';
import { caught } from './caught.ts';
import { describeForge } from './forge.contract.ts';
import type { TestRepository } from './forge-fixture.ts';
import { type GiteaFixture, startGiteaFixture } from './gitea-fixture.ts';

const run = promisify(execFile);
const branch = 'galley/aj_0123456789abcdef';

let fixture: GiteaFixture;

beforeAll(async () => {
  fixture = await startGiteaFixture();
});
afterAll(() => fixture?.stop());

// All tests share one Gitea, because it starts slowly. Each test uses a new repository.
describeForge('Gitea', async () => ({ ...fixture, stop: async () => undefined }));

describe('the Gitea adapter', () => {
  let files: TestRepository;

  beforeEach(async () => {
    files = await fixture.createRepository({ 'README.md': '# Handbook\n' });
  });

  const request = (of = branch) => ({ repository: files.repository, branch: of, base: 'main', title: of, body: '' });
  async function open(of = branch) {
    await files.commit(of, { 'README.md': `# ${of}\n` });
    return fixture.writer.openPullRequest(request(of));
  }

  it('provides credentials with which git can push', async () => {
    const credentials = await fixture.writer.gitCredentials(files.repository);
    const basic = Buffer.from(`${credentials?.username}:${credentials?.password}`).toString('base64');
    const folder = await mkdtemp(join(tmpdir(), 'galley-push-'));
    const env = {
      ...{ PATH: process.env.PATH ?? '', HOME: folder, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_COUNT: '1' },
      ...{ GIT_CONFIG_KEY_0: 'http.extraHeader', GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}` },
    };
    const git = async (...args: string[]) => (await run('git', args, { cwd: folder, env })).stdout.trim();
    try {
      await git('clone', '--quiet', files.repository, '.');
      await writeFile(join(folder, 'README.md'), '# Pushed\n');
      await git('-c', 'user.name=Galley', '-c', 'user.email=agent@galley.invalid', 'commit', '-qam', 'Push');
      await git('push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
      const { headSha } = await fixture.writer.openPullRequest(request());
      expect(headSha).toBe(await git('rev-parse', 'HEAD'));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("finds a branch's pull request beyond the first page, and after the branch is gone", async () => {
    const { url, headSha } = await open();
    for (let index = 0; index < 7; index += 1) await open(`other/${index}`);
    expect((await fixture.writer.findPullRequest(request()))?.url).toBe(url);
    expect((await fixture.writer.openPullRequest(request())).url).toBe(url);
    await files.close(url);
    const path = `/repos/acme/${new URL(files.repository).pathname.split('/').at(-1)?.replace('.git', '')}`;
    await fixture.gitea.call(fixture.gitea.admin, 'DELETE', `${path}/branches/${encodeURIComponent(branch)}`);
    const expected = { url, state: 'closed', headBranch: branch, headSha };
    expect(await fixture.writer.findPullRequest(request())).toMatchObject(expected);
    expect(await fixture.reader.readPullRequest(url)).toMatchObject(expected);
  });

  it('closes a newer pull request of the branch that an interrupted call left open', async () => {
    const { bot, gitea } = fixture;
    const older = await open();
    await files.close(older.url);
    const younger = await fixture.writer.openPullRequest(request());
    // Gitea allows two for a branch if the older one is reopened.
    const path = `/repos/acme/${new URL(files.repository).pathname.split('/').at(-1)?.replace('.git', '')}`;
    await gitea.call(bot, 'PATCH', `${path}/pulls/${older.number}`, { state: 'open' });
    expect((await fixture.reader.readPullRequest(younger.url)).state).toBe('open');
    expect((await fixture.writer.openPullRequest(request())).url).toBe(older.url);
    expect((await fixture.reader.readPullRequest(younger.url)).state).toBe('closed');
    expect((await fixture.reader.readPullRequest(older.url)).state).toBe('open');
  });

  it('requests a review from a team of the organization, and reports teams that it skips', async () => {
    const { url } = await open();
    const wanted = { logins: ['ada'], teams: ['docs'] };
    for (let time = 0; time < 2; time += 1) {
      expect(await fixture.reader.requestReviews(url, wanted)).toEqual({ requested: ['ada', 'docs'], refused: [] });
    }
    const { requested, refused } = await fixture.reader.requestReviews(url, { logins: [], teams: ['writers', 'docs'] });
    expect(requested).toEqual(['docs']);
    expect(refused).toEqual([{ name: 'writers', reason: expect.stringMatching(/writers/) }]);

    const { bot, gitea } = fixture;
    await gitea.call(bot, 'POST', '/user/repos', { name: 'notes', auto_init: true, default_branch: 'main' });
    const edit = { branch: 'main', new_branch: branch, content: 'QQ==', message: 'Add' };
    await gitea.call(bot, 'POST', '/repos/galley-bot/notes/contents/a.md', edit);
    const own = { ...request(), repository: `${gitea.url}/galley-bot/notes` };
    const opened = await fixture.writer.openPullRequest(own);
    expect(await fixture.reader.requestReviews(opened.url, { logins: [], teams: ['docs'] })).toEqual({
      requested: [],
      refused: [{ name: 'docs', reason: 'the repository has no such team' }],
    });
  });

  it("reads CODEOWNERS from Gitea's locations, and prefers the location that only GitHub uses", async () => {
    const { url } = await open();
    for (const path of ['.gitea/CODEOWNERS', 'docs/CODEOWNERS', 'CODEOWNERS', '.github/CODEOWNERS']) {
      await files.commit('main', { [path]: `${path} @ada\n` });
      expect(await fixture.reader.readCodeOwners(url)).toBe(`${path} @ada\n`);
    }
  });

  it('also finds a repository by its old name', async () => {
    const { url } = await open();
    const { pathname } = new URL(files.repository);
    const path = `/repos${pathname.replace('.git', '')}`;
    const name = `renamed-${pathname.split('/').at(-1)?.replace('.git', '')}`;
    await fixture.gitea.call(fixture.gitea.admin, 'PATCH', path, { name });
    expect((await fixture.reader.readPullRequest(url)).url).toContain(name);
    expect((await fixture.writer.findPullRequest(request()))?.url).toContain(name);
    expect((await fixture.writer.updatePullRequest(url, { title: 'Moved' })).title).toBe('Moved');
  });

  it('names the missing right if the token is read-only', async () => {
    const token = await fixture.gitea.createToken(fixture.bot, ['read:repository', 'read:user']);
    const reading = createForge({ kind: 'gitea', url: fixture.gitea.url, auth: { token } });
    const { url } = await open();
    expect((await reading.readPullRequest(url)).state).toBe('open');
    expect(await reading.findLogin('ada@example.org')).toBe('ada');
    const refusals = await Promise.all([
      caught(reading.openPullRequest({ ...request(), branch: 'main' })),
      caught(reading.updatePullRequest(url, { title: 'No' })),
      caught(reading.requestReviews(url, { logins: ['ada'], teams: [] })),
    ]);
    for (const error of refusals) {
      expect(error).toMatchObject({ status: 403, retryable: false });
      expect(error.message).toMatch(/which needs the right "write:repository"/);
    }
  });
});
