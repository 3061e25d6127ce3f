import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { pino } from 'pino';
import { z } from 'zod';
import { agentDepsOf } from '../../../programs/parts/agents.ts';
import { openHome } from '../../../programs/process/home.ts';
import { readSettings } from '../../../programs/settings/environment.ts';
import { type GiteaFixture, startGiteaFixture } from '../../forge/gitea-fixture.ts';
import { type AgentFixture, PUBLIC_URL, startAgentFixture } from '../../helpers/agent-fixture.ts';
import type { GiteaUser } from '../../helpers/gitea.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { createDatabase } from '../../helpers/test-database.ts';
import { openBrowser } from '../dashboard/browser.ts';

const logger = pino({ level: 'silent' });
const branchState = z.object({
  commit: z.object({ id: z.string(), verification: z.object({ verified: z.boolean() }) }),
});

let gitea: GiteaFixture;
let fixture: AgentFixture;
let folder: string;
let signingKey: string;

beforeAll(async () => {
  gitea = await startGiteaFixture({ signsMerges: true });
  fixture = await startAgentFixture(await createDatabase());
  folder = await mkdtemp(join(tmpdir(), 'galley-signed-'));
  signingKey = join(folder, 'agent_ed25519');
  await execa('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', signingKey]);
  await registerKey(gitea.bot, signingKey);
});
afterAll(async () => {
  await fixture?.stop();
  await gitea?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Adds a key to the account and proves that the account has it, as a person does on Gitea's page. */
async function registerKey(user: GiteaUser, file: string): Promise<void> {
  const { call, url } = gitea.gitea;
  const key = await readFile(`${file}.pub`, 'utf8');
  const { fingerprint } = z
    .object({ fingerprint: z.string() })
    .parse(await call(user, 'POST', '/user/keys', { title: 'agent', key }));
  const signed = await fetch(`${url}/api/v1/user/gpg_key_token`, { headers: { authorization: `token ${user.token}` } });
  const input = await signed.text();
  const { stdout: signature } = await execa('ssh-keygen', ['-Y', 'sign', '-n', 'gitea', '-f', file], { input });
  const browser = openBrowser(url);
  await browser.post('/user/login', { user_name: user.login, password: user.password });
  const body = { type: 'verify_ssh', title: 'none', content: key, fingerprint, signature };
  const { status, location } = await browser.post('/user/settings/keys', body);
  expect([status, location]).toEqual([303, '/user/settings/keys']);
}

/** Runs a worker with these variables, as `galley agent-worker` does, only with an agent for tests. */
async function withWorker<Result>(variables: Record<string, string>, use: () => Promise<Result>): Promise<Result> {
  const forge = { FORGE_KIND: 'gitea', FORGE_URL: gitea.gitea.url, FORGE_TOKEN: gitea.bot.token };
  const settings = readSettings({ PATH: process.env.PATH, ...forge, ...variables });
  const { runner, workDir } = fixture.agents;
  const home = openHome(folder);
  const context = { settings, store: fixture, home, publicUrl: PUBLIC_URL, temporal: fixture.temporal, logger };
  const worker = await fixture.startWorker({ ...agentDepsOf(context), runner, workDir });
  try {
    return await use();
  } finally {
    await worker.stop();
  }
}

const asAccount = () => ({ AGENT_COMMIT_SIGNING_KEY: signingKey, AGENT_COMMIT_EMAIL: gitea.bot.mail });

/** A repository in which the branches of `rule` accept verified commits only. */
async function protectedRepository(rule: string) {
  const { admin, call } = gitea.gitea;
  const { repository } = await gitea.createRepository({ 'README.md': '# Handbook\n' });
  const api = `/repos${new URL(repository).pathname.replace('.git', '')}`;
  const settings = { rule_name: rule, enable_push: true, require_signed_commits: true };
  await call(admin, 'POST', `${api}/branch_protections`, settings);
  return {
    repository,
    read: async (branch: string) =>
      branchState.parse(await call(admin, 'GET', `${api}/branches/${encodeURIComponent(branch)}`)).commit,
    merge: (page: string | null, style: string) =>
      call(admin, 'POST', `${api}/pulls/${page?.split('/').at(-1)}/merge`, { Do: style }),
  };
}

describe('a branch that requires signed commits', () => {
  it("accepts each way of merging an agent's signed change", async () => {
    const { repository, read, merge } = await protectedRepository('**');
    const before = await read('main');
    const styles = ['merge', 'squash', 'rebase', 'rebase-merge'];
    const jobs = await withWorker(asAccount(), () =>
      Promise.all(styles.map((style) => fixture.run({ repository, prompt: `write ${style}.md ${style}` }))),
    );
    for (const [index, style] of styles.entries()) {
      const job = jobs[index];
      expect(job).toMatchObject({ status: 'completed', error: null });
      await waitFor(() => merge(job?.prLink ?? null, style).then(() => true), { describe: `merged by ${style}` });
      expect((await read('main')).verification).toEqual({ verified: true });
    }

    const clone = join(folder, 'clone');
    const basic = Buffer.from(`${gitea.bot.login}:${gitea.bot.token}`).toString('base64');
    await execa('git', ['-c', `http.extraHeader=Authorization: Basic ${basic}`, 'clone', '-q', repository, clone]);
    const allowed = join(folder, 'allowed');
    await writeFile(allowed, `${gitea.bot.mail} ${await readFile(`${signingKey}.pub`, 'utf8')}`);
    const git = (...args: string[]) =>
      execa('git', ['-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${allowed}`, ...args], { cwd: clone });
    const branch = `origin/${jobs[0]?.branch}`;
    expect((await git('verify-commit', branch)).stderr).toMatch(`Good "git" signature for ${gitea.bot.mail}`);
    await expect(git('verify-commit', before.id)).rejects.toThrow();
    const { stdout: files } = await git('ls-tree', '--name-only', 'origin/main');
    expect(files.split('\n')).toEqual(['README.md', ...styles.map((style) => `${style}.md`)].sort());
  });

  it.each([
    ['without a key', () => ({})],
    ["with another address than the key's account", () => ({ AGENT_COMMIT_SIGNING_KEY: signingKey })],
  ])('refuses the push of a change %s, and the job says why', async (_how, variables) => {
    const { repository } = await protectedRepository('**');
    const job = await withWorker(variables(), () => fixture.run({ repository, prompt: 'write a.md 1' }));
    expect(job).toMatchObject({ status: 'failed', prLink: null });
    expect(job.error).toMatch(/refused the push: .+ require signed commits, see AGENT_COMMIT_SIGNING_KEY/);
  });

  it('is left alone by an unsigned pull request, whose merge Gitea refuses', async () => {
    const { repository, read, merge } = await protectedRepository('main');
    const before = await read('main');
    const job = await withWorker({}, () => fixture.run({ repository, prompt: 'write a.md 1' }));
    expect(job).toMatchObject({ status: 'completed' });
    const refusal = () => merge(job.prLink, 'merge').catch((error: Error) => error.message);
    await waitFor(async () => /wont sign: commitssigned/.test(String(await refusal())), { describe: 'refused' });
    expect(await read('main')).toEqual(before);
  });
});
