import pino from 'pino';
import { createForge } from '../../forge/create-forge.ts';
import { closePull, type Pull, type Repository } from '../helpers/github/state.ts';
import { caught } from './caught.ts';
import { describeForge } from './forge.contract.ts';
import type { TestRepository } from './forge-fixture.ts';
import { type GitHubFixture, startGitHubFixture } from './github-fixture.ts';

const branch = 'galley/aj_0123456789abcdef';

describeForge('GitHub', startGitHubFixture);

describe('the GitHub adapter', () => {
  let fixture: GitHubFixture;
  let files: TestRepository;
  let repository: Repository;

  beforeAll(async () => {
    fixture = await startGitHubFixture();
  });
  afterAll(() => fixture?.stop());
  beforeEach(async () => {
    files = await fixture.createRepository({ 'README.md': '# Handbook\n' });
    const made = fixture.github.state.repositories.at(-1);
    if (!made) throw new Error('There is no repository');
    repository = made;
    fixture.github.calls.splice(0);
  });

  const request = (title = 'Rename') => ({ repository: files.repository, branch, base: 'main', title, body: '' });
  async function open(): Promise<Pull & { url: string }> {
    await files.commit(branch, { 'README.md': '# Ours\n' });
    const { url } = await fixture.writer.openPullRequest(request());
    const pull = repository.pulls.at(-1);
    if (!pull) throw new Error('There is no pull request');
    return Object.assign(pull, { url });
  }
  const called = (path: RegExp) => fixture.github.calls.filter((call) => path.test(call.path));

  describe('opening a pull request', () => {
    it('returns the open one if GitHub responds 422 because another request created it', async () => {
      const { url } = await open();
      fixture.github.answerNext({ path: /\/pulls$/, status: 200, body: [] });
      expect((await fixture.writer.openPullRequest(request())).url).toBe(url);
      expect(called(/\/pulls$/).map(({ method }) => method)).toEqual(['GET', 'POST', 'GET', 'POST', 'GET']);
    });

    it("reports GitHub's validation errors", async () => {
      const error = await caught(fixture.writer.openPullRequest({ ...request(), branch: 'never-pushed' }));
      expect(error).toMatchObject({ status: 422, retryable: false });
      expect(error.message).toMatch(
        /^GitHub refuses to open a pull request at acme\/docs-\d+ \(422\): Validation Failed: head is invalid$/,
      );
    });

    it('ignores a branch with the same name in a fork of the same owner', async () => {
      const ours = await open();
      repository.pulls.push({ ...ours, number: 2, fromFork: true });
      expect((await fixture.writer.findPullRequest(request()))?.number).toBe(1);
      closePull(ours);
      expect((await fixture.writer.findPullRequest(request()))?.number).toBe(1);
    });
  });

  describe('reading', () => {
    it('lists 3,000 changed files in pages of 100, and ignores the host in the links', async () => {
      const names = Array.from({ length: 3000 }, (_, index) => `many/${index}.md`);
      await files.commit(branch, Object.fromEntries(names.map((path) => [path, path])));
      const { url } = await fixture.writer.openPullRequest(request());
      expect(new Set(await fixture.reader.listChangedFiles(url))).toEqual(new Set(names));
      expect(called(/\/files$/)).toHaveLength(30);
    });

    it("reads reviews from all pages, without pending, dismissed and the author's own ones, and marks those of bots", async () => {
      const pull = await open();
      const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, second)).toISOString();
      for (let index = 0; index < 120; index += 1) {
        pull.reviews.push({ login: 'galley-bot', state: 'COMMENTED', submittedAt: at(0) });
      }
      pull.reviews.push(
        { login: 'ada', state: 'CHANGES_REQUESTED', submittedAt: at(1) },
        { login: 'grace', state: 'COMMENTED', submittedAt: at(2) },
        { login: 'grace', state: 'DISMISSED', submittedAt: at(3) },
        { login: 'linus', state: 'PENDING', submittedAt: null },
        { login: 'ada', state: 'APPROVED', submittedAt: at(4) },
        { login: 'ada', state: 'COMMENTED', submittedAt: at(5) },
        { login: 'copilot', state: 'APPROVED', submittedAt: at(6), type: 'Bot' },
      );
      expect((await fixture.reader.readPullRequest(pull.url)).reviews).toEqual([
        { reviewer: 'grace', verdict: 'commented', at: at(2) },
        { reviewer: 'ada', verdict: 'approved', at: at(4) },
        { reviewer: 'copilot', verdict: 'approved', at: at(6), bot: true },
      ]);
    });

    it("reads CODEOWNERS from GitHub's first location, also a long file, and ignores a folder of that name", async () => {
      const long = `# ${'x'.repeat(1_500_000)}\n* @ada\n`;
      await files.commit('main', {
        '.github/CODEOWNERS/about.md': 'A folder',
        'docs/CODEOWNERS': 'later',
        CODEOWNERS: long,
      });
      expect(await fixture.reader.readCodeOwners((await open()).url)).toBe(long);
      await files.commit('main', { '.github/CODEOWNERS/about.md': null, '.github/CODEOWNERS': '* @grace\n' });
      expect(await fixture.reader.readCodeOwners((await open()).url)).toBe('* @grace\n');
    });
  });

  describe('requesting reviews', () => {
    it('requests all at once, and each alone only if GitHub rejects the list', async () => {
      const { url, reviewers, teams } = await open();
      const requests = { logins: ['ada', 'grace'], teams: ['writers'] };
      expect(await fixture.reader.requestReviews(url, requests)).toEqual({
        requested: ['ada', 'grace', 'writers'],
        refused: [],
      });
      expect(called(/requested_reviewers$/)).toHaveLength(1);
      expect([...reviewers, ...teams]).toEqual(['ada', 'grace', 'writers']);
      expect((await fixture.reader.requestReviews(url, requests)).requested).toEqual(['ada', 'grace', 'writers']);
      expect(called(/requested_reviewers$/)).toHaveLength(1);
    });

    it('gives the reason why a stranger, the author and a team of a personal repository are skipped', async () => {
      repository.teams = null;
      const { url, reviewers } = await open();
      const requests = { logins: ['stranger', 'ADA', 'Galley-Bot', 'grace'], teams: ['writers'] };
      const collaborators = expect.stringMatching(/^Reviews may only be requested from collaborators/);
      repository.collaborators = ['ADA', 'grace'];
      expect(await fixture.reader.requestReviews(url, requests)).toEqual({
        requested: ['ADA', 'grace'],
        refused: [
          { name: 'stranger', reason: collaborators },
          { name: 'Galley-Bot', reason: 'opened the pull request' },
          { name: 'writers', reason: collaborators },
        ],
      });
      expect([...reviewers]).toEqual(['ADA', 'grace']);
    });

    it('requests no review once the pull request has ended', async () => {
      const pull = await open();
      closePull(pull);
      const { requested, refused } = await fixture.reader.requestReviews(pull.url, { logins: ['ada'], teams: [] });
      expect({ requested, refused }).toEqual({
        requested: [],
        refused: [{ name: 'ada', reason: 'the pull request is closed' }],
      });
    });

    it('fails as a whole if GitHub itself fails, so that it is retried', async () => {
      const { url } = await open();
      fixture.github.answerNext({ path: /requested_reviewers$/, status: 502, body: '<html>Bad gateway</html>' });
      const error = await caught(fixture.reader.requestReviews(url, { logins: ['ada'], teams: [] }));
      expect(error).toMatchObject({ status: 502, retryable: true });
    });
  });

  describe('finding people', () => {
    it('accepts only an exact email address of one account', async () => {
      fixture.github.state.accounts.push(
        { login: 'linus', email: 'linus@example.com.au' },
        { login: 'one', email: 'shared@example.com' },
        { login: 'two', email: 'shared@example.com' },
      );
      expect(await fixture.reader.findLogin('linus@example.com')).toBeNull();
      expect(await fixture.reader.findLogin('shared@example.com')).toBeNull();
      expect(await fixture.reader.findLogin('LINUS@example.com.au')).toBe('linus');
    });

    it('sends no request if the text contains search syntax', async () => {
      for (const odd of ['ada@example.com org:acme', '"ada"@example.com', 'repo:x@example.com', 'ada', '@', '']) {
        expect(await fixture.reader.findLogin(odd)).toBeNull();
      }
      for (const odd of ['../orgs/acme', 'ada/repos', '', 'a b']) expect(await fixture.reader.findMail(odd)).toBeNull();
      expect(fixture.github.calls).toEqual([]);
    });
  });

  describe('rejections', () => {
    it('wait as long as the primary rate limit requires', async () => {
      const { url } = await open();
      const date = new Date('2026-11-21T10:00:00Z');
      const reset = date.getTime() / 1000 + 600;
      fixture.github.answerNext({
        path: /\/pulls\/1$/,
        status: 403,
        headers: {
          date: date.toUTCString(),
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': String(reset),
        },
        body: { message: 'API rate limit exceeded for installation ID 1.' },
      });
      const error = await caught(fixture.reader.readPullRequest(url));
      // One second after the reset, by GitHub's clock.
      expect(error).toMatchObject({ status: 403, retryable: true, retryAfterMs: 601_000 });
      expect(error.message).toBe(
        'GitHub takes no more calls for now (403): API rate limit exceeded for installation ID 1.',
      );
    });

    it('report that the URL is not a GitHub API', async () => {
      const { url } = await open();
      fixture.github.answerNext({ path: /\/pulls\/1$/, status: 200, body: '<html>Sign in</html>' });
      const error = await caught(fixture.reader.readPullRequest(url));
      expect(error).toMatchObject({ retryable: false });
      expect(error.message).toMatch(/its answer is not what its API gives/);
    });

    it('never contain the token in a message or a log', async () => {
      const lines: string[] = [];
      const logger = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
      const forge = createForge({ kind: 'github', url: fixture.github.url, auth: { token: fixture.token }, logger });
      const { url } = await open();
      const statuses = [400, 401, 403, 404, 422, 429, 500];
      const errors = [];
      for (const status of statuses) {
        fixture.github.answerNext({ path: /./, status, body: { message: 'No' } });
        errors.push(await caught(forge.readPullRequest(url)));
      }
      fixture.github.answerNext({ path: /./, status: 302, headers: { location: 'https://elsewhere.example/' } });
      errors.push(await caught(forge.readPullRequest(url)));
      await forge.findLogin('private@example.org');
      for (const { message, stack, cause } of errors) {
        expect(message).not.toContain('\n');
        expect(`${message} ${stack} ${JSON.stringify(cause ?? null)}`).not.toContain(fixture.token);
      }
      expect(lines.length).toBeGreaterThan(statuses.length);
      expect(lines.join('')).not.toContain(fixture.token);
      expect(lines.join('')).not.toContain('private');
    });
  });

  describe('redirects', () => {
    it('lead to a renamed repository within the API, with the same method and body', async () => {
      const { url } = await open();
      const path = `/api/v3/repos/acme/${repository.name}/pulls/1`;
      for (const status of [301, 302, 307, 308]) {
        fixture.github.answerNext({ path: /\/repos\/acme\/old\/pulls\/1$/, status, headers: { location: path } });
        const old = url.replace(repository.name, 'old');
        expect((await fixture.writer.updatePullRequest(old, { title: `Now ${status}` })).title).toBe(`Now ${status}`);
      }
    });

    it('never send the token to another host or outside of the API', async () => {
      const { url } = await open();
      const other = await startGitHubFixture();
      try {
        for (const location of [`${other.github.url}/api/v3/user`, `${fixture.github.url}/login`]) {
          fixture.github.calls.splice(0);
          fixture.github.answerNext({ path: /\/pulls\/1$/, status: 302, headers: { location } });
          const error = await caught(fixture.reader.readPullRequest(url));
          expect(error).toMatchObject({ retryable: false });
          expect(error.message).toMatch(/leads to another address/);
          expect(fixture.github.calls).toHaveLength(1);
        }
        expect(other.github.calls).toEqual([]);
      } finally {
        await other.stop();
      }
    });

    it('fail if they are circular', async () => {
      const { url } = await open();
      const location = `/api/v3/repos/acme/${repository.name}/pulls/1`;
      for (let index = 0; index < 4; index += 1) {
        fixture.github.answerNext({ path: /\/pulls\/1$/, status: 302, headers: { location } });
      }
      expect(await caught(fixture.reader.readPullRequest(url))).toMatchObject({ retryable: false });
    });

    it('fail with a message if the forge uses another public URL than the configured one', async () => {
      await open();
      const host = fixture.github.url.replace('127.0.0.1', 'localhost');
      const forge = createForge({ kind: 'github', url: host, auth: { token: fixture.token } });
      const found = await caught(forge.findPullRequest({ repository: `${host}/acme/${repository.name}`, branch }));
      expect(found).toMatchObject({ retryable: false });
      expect(found.message).toContain(`names its pages under ${fixture.github.url}, not ${host}`);
    });
  });

  it('provides the token for git over HTTP, and nothing over SSH', async () => {
    const { host } = new URL(fixture.github.url);
    expect(await fixture.writer.gitCredentials(files.repository)).toEqual({
      username: 'x-access-token',
      password: fixture.token,
    });
    expect(await fixture.writer.gitCredentials(`ssh://git@${host}/acme/docs.git`)).toBeNull();
    expect(await caught(fixture.writer.gitCredentials('https://elsewhere.example/acme/docs'))).toMatchObject({
      retryable: false,
    });
  });
});
