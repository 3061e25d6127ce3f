import { createForge } from '../../forge/create-forge.ts';
import type { Forge } from '../../forge/forge.ts';
import { makePrivateKey } from '../helpers/github/app.ts';
import { caught } from './caught.ts';
import type { TestRepository } from './forge-fixture.ts';
import { type GitHubFixture, startGitHubFixture } from './github-fixture.ts';

const branch = 'galley/aj_0123456789abcdef';

describe('a GitHub App', () => {
  let fixture: GitHubFixture;
  let forge: Forge;
  let files: TestRepository;

  const createAppForge = (privateKey: string, appId: string | number = fixture.github.app.id): Forge =>
    createForge({ kind: 'github', url: fixture.github.url, auth: { appId, privateKey } });

  beforeEach(async () => {
    fixture = await startGitHubFixture();
    files = await fixture.createRepository({ 'README.md': '# Handbook\n' });
    await files.commit(branch, { 'README.md': '# Ours\n' });
    fixture.github.app.installations.set('acme/docs-1', 77);
    forge = createAppForge(fixture.github.app.privateKey);
  });
  afterEach(() => fixture?.stop());

  const request = () => ({ repository: files.repository, branch, base: 'main', title: 'Rename', body: '' });
  const exchanges = () => fixture.github.calls.filter(({ path }) => path.endsWith('/access_tokens'));

  it("uses a token of the repository's installation, which it requests once with its key", async () => {
    const opened = await forge.openPullRequest(request());
    expect(opened.author).toBe('galley[bot]');
    await Promise.all([
      forge.readPullRequest(opened.url),
      forge.listChangedFiles(opened.url),
      forge.findPullRequest(request()),
    ]);
    expect(exchanges().map(({ path }) => path)).toEqual(['/api/v3/app/installations/77/access_tokens']);
    expect(fixture.github.calls.filter(({ path }) => path.endsWith('/installation'))).toHaveLength(1);
    const signed = fixture.github.calls.filter(({ authorization }) =>
      /^bearer [\w-]+\.[\w-]+\.[\w-]+$/i.test(authorization),
    );
    expect(signed).toHaveLength(2);
  });

  it('accepts a key with line ends written as \\n', async () => {
    const oneLine = createAppForge(
      fixture.github.app.privateKey.replaceAll('\n', '\\n'),
      String(fixture.github.app.id),
    );
    expect(await oneLine.findPullRequest(request())).toBeNull();
  });

  it('provides git with a token that lives long enough for a push', async () => {
    const first = await forge.gitCredentials(files.repository);
    expect(first).toEqual({ username: 'x-access-token', password: expect.stringMatching(/^ghs_/) });
    expect(await forge.gitCredentials(files.repository)).toEqual(first);
    fixture.github.app.tokenLifeMs = 5 * 60_000;
    const young = createAppForge(fixture.github.app.privateKey);
    const before = exchanges().length;
    await young.gitCredentials(files.repository);
    await young.gitCredentials(files.repository);
    expect(exchanges().length - before).toBeGreaterThan(1);
  });

  it('finds people through any of its installations', async () => {
    expect(await forge.findLogin('ada@example.com')).toBe('ada');
    expect(await forge.findMail('ada')).toBe('ada@example.com');
    fixture.github.app.installations.clear();
    const nowhere = createAppForge(fixture.github.app.privateKey);
    expect(await caught(nowhere.findLogin('ada@example.com'))).toMatchObject({ retryable: false });
  });

  it('reports that it is not installed, and works once it is', async () => {
    fixture.github.app.installations.clear();
    const error = await caught(forge.openPullRequest(request()));
    expect(error).toMatchObject({ status: 404, retryable: false });
    expect(error.message).toMatch(/App isn't installed at acme\/docs-1 \(404\)/);
    expect(await caught(forge.gitCredentials(files.repository))).toMatchObject({ status: 404, retryable: false });
    fixture.github.app.installations.set('acme/docs-1', 78);
    expect((await forge.openPullRequest(request())).number).toBe(1);
  });

  it('works again after it was removed and reinstalled', async () => {
    expect(await forge.findPullRequest(request())).toBeNull();
    fixture.github.app.installations.set('acme/docs-1', 78);
    fixture.github.state.tokens.clear();
    expect(await caught(forge.findPullRequest(request()))).toMatchObject({ status: 401, retryable: false });
    expect(await forge.findPullRequest(request())).toBeNull();
  });

  it('reports a wrong key or app id', async () => {
    for (const wrong of [createAppForge(makePrivateKey()), createAppForge(fixture.github.app.privateKey, 1)]) {
      const error = await caught(wrong.findPullRequest(request()));
      expect(error).toMatchObject({ status: 401, retryable: false });
      expect(error.message).toMatch(/refuses the App's id or private key \(401\)/);
    }
    expect(() => createAppForge('not a key')).toThrow("The App's private key can't be read");
  });

  it('fails as retryable if GitHub fails or limits the token request', async () => {
    fixture.github.answerNext({ path: /\/installation$/, status: 502, body: {} });
    expect(await caught(forge.findPullRequest(request()))).toMatchObject({ status: 502, retryable: true });
    fixture.github.answerNext({ path: /\/access_tokens$/, status: 429, headers: { 'retry-after': '7' }, body: {} });
    expect(await caught(forge.findPullRequest(request()))).toMatchObject({ retryable: true, retryAfterMs: 7_000 });
    expect(await forge.findPullRequest(request())).toBeNull();
  });

  it('is supported only for GitHub, because Gitea uses a token', () => {
    const { privateKey, id } = fixture.github.app;
    const auth = { appId: id, privateKey };
    expect(() => createForge({ kind: 'gitea', url: fixture.github.url, auth })).toThrow('Gitea has no Apps');
  });
});
