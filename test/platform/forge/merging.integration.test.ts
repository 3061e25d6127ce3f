import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { createBranchWatch } from '../../../platform/forge/watch-branches.ts';
import { OPERATOR_TOKEN } from '../../helpers/platform-api.ts';
import { BRANCH, type ForgeFixture, startForgeFixture } from './forge-fixture.ts';

describe('merging at the embedded forge', () => {
  let fixture: ForgeFixture;

  const lines: string[] = [];

  beforeAll(async () => {
    fixture = await startForgeFixture(pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }));
  });
  afterAll(() => fixture?.stop());

  async function proposal(options?: Parameters<ForgeFixture['createProject']>[0]) {
    const repository = await fixture.createProject(options);
    const headSha = await repository.commit(BRANCH, { 'README.md': '# Our handbook\n' });
    return { repository, headSha, opened: await fixture.open(repository) };
  }
  const watch = () => createBranchWatch(fixture.forgeContext());

  it('creates a commit with both branches as parents and the pull request in its message', async () => {
    const { repository, headSha, opened } = await proposal();
    const before = await repository.git('rev-parse', 'main');
    const { status, json } = await fixture.post(`${opened.url}/merge`);
    const sha = await repository.git('rev-parse', 'main');
    expect([status, json]).toMatchObject([200, { merged: true, state: 'closed', merge_commit_sha: sha, sha }]);
    expect(await repository.git('log', '-1', '--format=%P%n%an <%ae>%n%B', 'main')).toBe(
      `${before} ${headSha}\nGalley <galley@galley.invalid>\nMerge pull request #1 from ${BRANCH}\n\nName the handbook\n`,
    );
    expect(await repository.git('show', 'main:README.md')).toBe('# Our handbook');
    expect(await repository.git('fsck', '--strict')).toBe('');
  });

  it('merges once for repeated and concurrent requests, and refuses to close a merged pull request', async () => {
    const { repository, opened } = await proposal();
    const responses = await Promise.all([1, 2, 3].map(() => fixture.post(`${opened.url}/merge`)));
    responses.push(await fixture.post(`${opened.url}/merge`));
    const sha = await repository.git('rev-parse', 'main');
    expect(responses.map(({ status, json }) => [status, json.sha])).toEqual(responses.map(() => [200, sha]));
    expect(responses[3]?.json).toEqual(responses[0]?.json);
    expect((await fixture.post(`${opened.url}/close`)).status).toBe(409);
    expect(await repository.git('rev-list', '--count', '--merges', 'main')).toBe('1');
  });

  it('includes commits that others added to the base, also concurrently', async () => {
    const { repository, opened } = await proposal({ files: { 'README.md': '# Handbook\n', 'other.md': '1\n' } });
    const other = 'galley/aj_fedcba9876543210';
    await repository.commit(other, { 'other.md': '2\n' });
    const second = await fixture.open(repository, { branch: other });
    await repository.commit('main', { 'third.md': '3\n' });
    const responses = await Promise.all([opened, second].map(({ url }) => fixture.post(`${url}/merge`)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    const files = ['README.md', 'other.md', 'third.md'].map((file) => repository.git('show', `main:${file}`));
    expect(await Promise.all(files)).toEqual(['# Our handbook', '2', '3']);
  });

  it('rejects a merge with conflicts, names the files, and changes nothing', async () => {
    const { repository, opened } = await proposal();
    const base = await repository.commit('main', { 'README.md': '# Their handbook\n' });
    const { status, json } = await fixture.post(`${opened.url}/merge`);
    expect([status, json.error]).toEqual([
      409,
      'The pull request can not be merged: main has other changes in README.md',
    ]);
    expect(await repository.git('rev-parse', 'main')).toBe(base);
    expect((await fixture.get(opened.url)).json).toMatchObject({ state: 'open', merged: false });
  });

  it('merges the current head of the branch', async () => {
    const { repository, opened } = await proposal();
    const headSha = await repository.commit(BRANCH, { 'more.md': 'More\n' });
    const { json } = await fixture.post(`${opened.url}/merge`);
    expect(json).toMatchObject({ merged: true, head: { sha: headSha } });
    expect(await repository.git('show', 'main:more.md')).toBe('More');
  });

  it('records an existing merge commit if the process died before it wrote the row', async () => {
    for (const trigger of ['merge', 'read', 'watch']) {
      const { repository, opened, headSha } = await proposal();
      const tree = await repository.git('rev-parse', `${headSha}^{tree}`);
      const base = await repository.git('rev-parse', 'main');
      const sha = await repository.git('commit-tree', tree, '-p', base, '-p', headSha, '-m', 'Merge pull request #1');
      await repository.git('update-ref', 'refs/heads/main', sha, base);
      await repository.commit('main', { 'later.md': 'Later\n' });
      if (trigger === 'merge') expect((await fixture.post(`${opened.url}/merge`)).json).toMatchObject({ sha });
      if (trigger === 'watch') await watch().look();
      const { json } = await fixture.get(opened.url);
      expect([trigger, json]).toMatchObject([trigger, { merged: true, merge_commit_sha: sha, base: { sha: base } }]);
    }
  });

  it('notices a merge made by moving the base branch forward', async () => {
    const { repository, opened, headSha } = await proposal();
    await repository.git('update-ref', 'refs/heads/main', headSha);
    await repository.git('update-ref', '-d', `refs/heads/${BRANCH}`);
    await watch().look();
    expect((await fixture.get(opened.url)).json).toMatchObject({ merged: true, merge_commit_sha: headSha });
  });

  it('does not treat a branch that was reset to its base as merged', async () => {
    const { repository, opened } = await proposal();
    await repository.git('update-ref', `refs/heads/${BRANCH}`, 'main');
    await watch().look();
    expect((await fixture.get(opened.url)).json).toMatchObject({ state: 'open', merged: false });
  });

  it('refuses to merge a pull request that is closed or lost a branch or its repository', async () => {
    const closed = await proposal();
    const [first, again] = [
      await fixture.post(`${closed.opened.url}/close`),
      await fixture.post(`${closed.opened.url}/close`),
    ];
    expect([first.status, first.json.state, first.json.merged]).toEqual([200, 'closed', false]);
    expect(again.json).toEqual(first.json);
    expect((await fixture.post(`${closed.opened.url}/merge`)).status).toBe(409);

    const headless = await proposal();
    await headless.repository.git('update-ref', '-d', `refs/heads/${BRANCH}`);
    expect((await fixture.post(`${headless.opened.url}/merge`)).json.error).toMatch(`The branch ${BRANCH} is gone`);
    const baseless = await proposal();
    await baseless.repository.git('update-ref', '-d', 'refs/heads/main');
    expect((await fixture.post(`${baseless.opened.url}/merge`)).json.error).toMatch('The branch main is gone');
    const homeless = await proposal();
    await homeless.repository.remove();
    expect((await fixture.post(`${homeless.opened.url}/merge`)).status).toBe(404);
    expect((await fixture.get(homeless.opened.url)).json).toMatchObject({ state: 'open', number: 1 });
  });

  it('shows and closes a pull request whose commits git no longer has', async () => {
    const { repository, opened, headSha } = await proposal();
    await repository.git('update-ref', '-d', `refs/heads/${BRANCH}`);
    await repository.git('reflog', 'expire', '--expire=now', '--all');
    await repository.git('gc', '--quiet', '--prune=now');
    await repository.commit('main', { 'later.md': 'Later\n' });
    const { status, json } = await fixture.get(opened.url);
    expect([status, json]).toMatchObject([200, { state: 'open', head: { sha: headSha } }]);
    expect((await fixture.get(opened.url, 'text/html')).status).toBe(200);
    expect((await fixture.post(`${opened.url}/close`)).json).toMatchObject({ state: 'closed', merged: false });
  });

  it('updates the work tree if the base branch is checked out', async () => {
    const { repository, opened } = await proposal({ bare: false });
    expect((await fixture.post(`${opened.url}/merge`)).status).toBe(200);
    expect(await readFile(join(repository.dir, 'README.md'), 'utf8')).toBe('# Our handbook\n');
    expect(await repository.git('status', '--porcelain')).toBe('');
  });

  it('refuses to merge if that work tree has uncommitted changes', async () => {
    const { repository, opened } = await proposal({ bare: false });
    await writeFile(join(repository.dir, 'README.md'), '# Being edited\n');
    const { status, json } = await fixture.post(`${opened.url}/merge`);
    expect([status, json.error]).toEqual([
      409,
      'The pull request can not be merged: The branch main is checked out, and its work tree can not be updated: Working directory has unstaged changes',
    ]);
    expect(await readFile(join(repository.dir, 'README.md'), 'utf8')).toBe('# Being edited\n');
    await repository.git('checkout', '--', '.');
    expect((await fixture.post(`${opened.url}/merge`)).status).toBe(200);
  });

  it('runs no hook of a bare repository', async () => {
    const { repository, opened } = await proposal();
    const mark = join(repository.dir, 'hook-ran');
    for (const hook of ['reference-transaction', 'post-receive', 'update']) {
      await writeFile(join(repository.dir, 'hooks', hook), `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 });
    }
    expect((await fixture.post(`${opened.url}/merge`)).status).toBe(200);
    await expect(readFile(mark)).rejects.toThrow('ENOENT');
  });

  it('is not checked in any repository after the branch watch has stopped', async () => {
    const { repository } = await proposal();
    // Each check of a missing repository logs a line.
    await repository.remove();
    const looks = () => lines.filter((line) => line.includes('could not be compared')).length;
    const [before, branches] = [looks(), watch()];
    await branches.look();
    expect(looks()).toBeGreaterThan(before);
    await branches.stop();
    const stopped = looks();
    await branches.look();
    expect(looks()).toBe(stopped);
  });

  it('lets only the operator merge, close, review and request reviews', async () => {
    const { opened } = await proposal();
    const { key } = await fixture.platform.addCustomer();
    const bodies = { merge: {}, close: {}, reviews: { event: 'APPROVE', reviewer: 'ada' }, requested_reviewers: {} };
    for (const [path, json] of Object.entries(bodies)) {
      const url = `${opened.url}/${path}`;
      const statuses = [];
      for (const token of ['', 'wrong', `${OPERATOR_TOKEN}x`, 'galley_unknown', key]) {
        const { status, headers } = await fixture.post(url, { token, json });
        statuses.push([status, headers.get('www-authenticate') !== null]);
      }
      expect([path, statuses]).toEqual([
        path,
        [
          [401, true],
          [401, true],
          [401, true],
          [401, true],
          [403, false],
        ],
      ]);
      expect((await fixture.post(`${url}?token=${OPERATOR_TOKEN}`, { token: '', json })).status).toBe(401);
      expect((await fixture.post(url, { token: '', json: { ...json, token: OPERATOR_TOKEN } })).status).toBe(401);
    }
    expect((await fixture.get(opened.url)).json).toMatchObject({ state: 'open', requested_reviewers: [] });
  });
});
