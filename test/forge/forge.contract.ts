import type { PullRequest } from '../../forge/forge.ts';
import type { ForgeError } from '../../forge/forge-error.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { caught } from './caught.ts';
import type { ForgeFixture, ForgeSides, Place, TestRepository } from './forge-fixture.ts';

const FILES = {
  'README.md': '# Handbook\n',
  'guides/start.md': '# Start\n\nRead this first, and the rest whenever you need it.\n',
  'guides/old.md': '# Old\n',
};

/** The tests that every forge must pass. Each test uses a new repository. */
export function describeForge(name: string, start: () => Promise<ForgeFixture>): void {
  describe(`the forge ${name}`, () => {
    let fixture: ForgeFixture;
    let files: TestRepository;

    beforeAll(async () => {
      fixture = await start();
    });
    afterAll(() => fixture?.stop());
    beforeEach(async () => {
      files = await fixture.createRepository(FILES);
    });

    const branch = 'galley/aj_0123456789abcdef';
    async function open(options: { title?: string; body?: string; content?: string } = {}): Promise<PullRequest> {
      await files.commit(branch, { 'README.md': options.content ?? '# Handbook of ours\n' });
      const { title = 'Name the handbook', body = 'As asked.' } = options;
      return fixture.writer.openPullRequest({ repository: files.repository, branch, base: 'main', title, body });
    }
    const find = () => fixture.writer.findPullRequest({ repository: files.repository, branch });

    describe('opens pull requests', () => {
      it('once for each branch, returns what it opened, and finds it again', async () => {
        const headSha = await files.commit(branch, { 'README.md': '# Ours\n' });
        const request = { repository: files.repository, branch, base: 'main', title: 'Rename', body: 'As asked.' };
        expect(await find()).toBeNull();
        const opened = await fixture.writer.openPullRequest(request);
        expect(opened).toEqual({
          url: expect.stringMatching(/^http/),
          number: 1,
          state: 'open',
          title: 'Rename',
          author: fixture.people.author?.login ?? expect.any(String),
          headBranch: branch,
          headSha,
          baseBranch: 'main',
          mergeCommitSha: null,
        });
        expect(await find()).toEqual(opened);
        const again = await Promise.all([fixture.writer.openPullRequest(request), find()]);
        expect(again.map((each) => each?.url)).toEqual([opened.url, opened.url]);

        for (const other of [branch.slice(0, -1), `${branch}0`]) {
          await files.commit(other, { 'guides/old.md': `# ${other}\n` });
          expect(await fixture.writer.findPullRequest({ ...request, branch: other })).toBeNull();
        }
        const second = { ...request, branch: `${branch}0` };
        const both = await Promise.all([
          fixture.writer.openPullRequest(second),
          fixture.writer.openPullRequest(second),
        ]);
        expect(both[0].url).not.toBe(opened.url);
        expect(both[1].url).toBe(both[0].url);
        expect((await find())?.url).toBe(opened.url);
      });

      it('and shows commits that are pushed to the branch', async () => {
        const opened = await open();
        const headSha = await files.commit(branch, { 'guides/new.md': '# New\n' });
        const followed = async () => ((await find())?.headSha === headSha ? find() : null);
        expect(await waitFor(followed, { describe: 'followed' })).toEqual({ ...opened, headSha });
      });

      it('with unchanged titles and bodies, which can be updated separately, and truncated ones if they are too long', async () => {
        const title = 'Say "$(id)" & <b>`{{ name }}`</b> \u202eעברית';
        const opened = await open({ title, body: `${title}\n\n<script>alert(1)</script>\n` });
        expect(opened.title).toBe(title);
        expect((await fixture.reader.readPullRequest(opened.url)).title).toBe(title);
        expect((await fixture.writer.updatePullRequest(opened.url, { title: 'Another' })).title).toBe('Another');
        expect((await fixture.writer.updatePullRequest(opened.url, { body: 'More.' })).title).toBe('Another');
        expect(await fixture.writer.updatePullRequest(opened.url, {})).toEqual({ ...opened, title: 'Another' });
        await files.close(opened.url);
        const long = await open({ title: 'long '.repeat(200), body: 'x'.repeat(100_000) });
        expect(long.title).toMatch(/^long long /);
        expect(long.title.length).toBeLessThanOrEqual(255);
      });
    });

    describe('reports how a pull request ended', () => {
      it('as merged, with the merge commit', async () => {
        const opened = await open();
        expect((await fixture.reader.readPullRequest(opened.url)).mergeCommitSha).toBeNull();
        const mergeCommitSha = await files.merge(opened.url);
        expect(await fixture.reader.readPullRequest(opened.url)).toMatchObject({ state: 'merged', mergeCommitSha });
        expect(await find()).toMatchObject({ url: opened.url, state: 'merged', mergeCommitSha });
      });

      it('as closed, and then prefers a new one of the branch to the closed one', async () => {
        const first = await open();
        await files.close(first.url);
        const expected = { url: first.url, state: 'closed', mergeCommitSha: null };
        expect(await fixture.reader.readPullRequest(first.url)).toMatchObject(expected);
        expect(await find()).toMatchObject(expected);
        const second = await open({ content: '# Second\n' });
        expect(second.url).not.toBe(first.url);
        expect((await find())?.url).toBe(second.url);
        await files.close(second.url);
        expect(await find()).toMatchObject({ url: second.url, state: 'closed' });
      });
    });

    it('lists changed files beyond the first page, and a moved file with its old and new path', async () => {
      const names = Array.from({ length: 130 }, (_, index) => `many/${String(index).padStart(3, '0')}.md`);
      await files.commit(branch, {
        ...Object.fromEntries(names.map((path) => [path, `# ${path}\n`])),
        'guides/old.md': null,
        'guides/start.md': null,
        'guides/first steps.md': FILES['guides/start.md'],
        'guides/ünï.md': '# New\n',
      });
      const opened = await open();
      const moved = ['guides/first steps.md', 'guides/old.md', 'guides/start.md', 'guides/ünï.md'];
      expect((await fixture.reader.listChangedFiles(opened.url)).sort()).toEqual(['README.md', ...moved, ...names]);
    });

    it('reads CODEOWNERS from any of its locations on the base branch, not from the pull request', async () => {
      await files.commit(branch, { CODEOWNERS: '* @mallory\n' });
      const { url } = await open();
      expect(await fixture.reader.readCodeOwners(url)).toBeNull();
      await files.commit('main', { 'docs/CODEOWNERS': '* @grace\n' });
      expect(await fixture.reader.readCodeOwners(url)).toBe('* @grace\n');
      const text = '# Ours\n*.md @ada ada@example.com\n/größe/ @ada\n';
      await files.commit('main', { CODEOWNERS: text });
      expect(await fixture.reader.readCodeOwners(url)).toBe(text);
    });

    describe('requests reviews', () => {
      it('from known people, also repeatedly, and gives the reason for others', async () => {
        const { url } = await open();
        const logins = fixture.people.reviewers.map(({ login }) => login);
        expect(await fixture.reader.requestReviews(url, { logins: [], teams: [] })).toEqual({
          requested: [],
          refused: [],
        });
        for (let time = 0; time < 2; time += 1) {
          const answer = await fixture.reader.requestReviews(url, { logins, teams: [] });
          expect(answer).toEqual({ requested: logins, refused: [] });
        }
        const odd = [fixture.people.unknown, fixture.people.author?.login].filter((each) => typeof each === 'string');
        const wanted = [...odd.slice(0, 1), ...logins, ...odd.slice(1)];
        const { requested, refused } = await fixture.reader.requestReviews(url, { logins: wanted, teams: [] });
        expect(requested.sort()).toEqual([...logins].sort());
        expect(refused).toEqual(odd.map((login) => ({ name: login, reason: expect.stringMatching(/\w/) })));
      });

      it('and reads the last verdict of each reviewer, which a later comment does not change', async () => {
        const { url } = await open();
        const [ada, grace] = fixture.people.reviewers;
        expect((await fixture.reader.readPullRequest(url)).reviews).toEqual([]);
        await fixture.reader.requestReviews(url, { logins: [ada.login, grace.login], teams: [] });
        expect((await fixture.reader.readPullRequest(url)).reviews).toEqual([]);
        await files.review(url, ada, 'commented');
        await files.review(url, grace, 'changes-requested');
        expect(verdicts(await fixture.reader.readPullRequest(url))).toEqual({
          [ada.login]: 'commented',
          [grace.login]: 'changes-requested',
        });
        await files.review(url, ada, 'changes-requested');
        await files.review(url, ada, 'approved');
        await files.review(url, grace, 'commented');
        const read = await fixture.reader.readPullRequest(url);
        expect(verdicts(read)).toEqual({ [ada.login]: 'approved', [grace.login]: 'changes-requested' });
        for (const { at } of read.reviews) expect(Date.parse(at)).not.toBeNaN();
      });

      it('and reads all that request changes, with what they say', async () => {
        const { url } = await open();
        const [ada, grace] = fixture.people.reviewers;
        expect((await fixture.reader.readPullRequest(url)).changeRequests).toEqual([]);
        const comments = fixture.commentsOnLines ? [{ path: 'README.md', line: 1, body: 'Whose?\n> Ours.' }] : [];
        const texts = [
          { body: 'Say `whose` handbook.\n\nIgnore "this" & <that>.', comments },
          { body: 'Still unclear.', comments: [] },
        ];
        await files.review(url, ada, 'commented');
        for (const text of texts) await files.review(url, ada, 'changes-requested', text);
        await files.review(url, grace, 'approved');
        const { changeRequests } = await fixture.reader.readPullRequest(url);
        expect(changeRequests.map(({ reviewer }) => reviewer)).toEqual([ada.login, ada.login]);
        const ids = changeRequests.map(({ id }) => id);
        expect(new Set(ids).size).toBe(2);
        expect(await Promise.all(ids.map((id) => fixture.reader.readReview(url, id)))).toEqual(texts);
        expect(await caught(fixture.reader.readReview(url, '999999'))).toMatchObject({ retryable: false });
      });
    });

    it('finds people by their public email address and the other way round, but not by a private one', async () => {
      for (const { login, mail } of fixture.people.reviewers) {
        expect(await fixture.reader.findMail(login)).toBe(mail);
        if (mail !== null) expect(await fixture.reader.findLogin(mail)).toBe(login);
      }
      const { hidden } = fixture.people;
      for (const mail of ['nobody-of-here@example.org', 'ada', hidden?.mail ?? 'private@example.org']) {
        expect(await fixture.reader.findLogin(mail)).toBeNull();
      }
      for (const login of ['nobody-of-here', hidden?.login ?? 'private']) {
        expect(await fixture.reader.findMail(login)).toBeNull();
      }
    });

    describe('explains failures', () => {
      async function failures(sides: ForgeSides & Place, opened: string): Promise<ForgeError[]> {
        const { repository, url } = sides.at ?? { repository: files.repository, url: opened };
        const request = { repository, branch, base: 'main', title: 'Another', body: '' };
        const calls = [
          sides.writer?.findPullRequest(request),
          sides.writer?.openPullRequest(request),
          sides.writer?.updatePullRequest(url, { title: 'Another' }),
          sides.reader?.readPullRequest(url),
          sides.reader?.readReview(url, '1'),
          sides.reader?.listChangedFiles(url),
          sides.reader?.readCodeOwners(url),
          sides.reader?.requestReviews(url, { logins: ['ada'], teams: [] }),
        ];
        expect(sides.writer ?? sides.reader).not.toBeNull();
        return Promise.all(calls.filter((call) => call !== undefined).map(caught));
      }

      it('if the token is wrong or lacks a named right', async () => {
        const { url } = await open();
        for (const error of await failures(fixture.wrongToken, url)) {
          expect(error).toMatchObject({ status: 401, retryable: false });
          expect(error.message).toMatch(/token|key/i);
        }
        for (const error of await failures(fixture.lackingRights, url)) {
          expect([403, 404]).toContain(error.status);
          expect(error).toMatchObject({ retryable: false });
          expect(error.message).toMatch(fixture.lackingRights.right);
        }
      });

      it('if the branch or the repository is unknown, or the URL belongs to another forge', async () => {
        const request = { repository: files.repository, branch: 'never-pushed', base: 'main', title: 'A', body: '' };
        expect(await caught(fixture.writer.openPullRequest(request))).toMatchObject({ retryable: false });
        for (const repository of [fixture.unknownRepository, 'https://forge.elsewhere.example/acme/docs.git']) {
          const unknown = { ...request, repository };
          expect(await caught(fixture.writer.findPullRequest(unknown))).toMatchObject({ retryable: false });
          expect(await caught(fixture.writer.openPullRequest(unknown))).toMatchObject({ retryable: false });
        }
        const page = 'https://forge.elsewhere.example/acme/docs/pull/1';
        expect(await caught(fixture.reader.readPullRequest(page))).toMatchObject({ retryable: false });
        expect(await caught(fixture.writer.updatePullRequest(page, { title: 'A' }))).toMatchObject({
          retryable: false,
        });
      });

      it('as retryable if it is down or does not respond in time', async () => {
        const { url } = await open();
        for (const sides of [fixture.away, fixture.hanging]) {
          for (const error of await failures(sides, url)) {
            expect(error).toMatchObject({ status: null, retryable: true });
          }
        }
      });
    });
  });
}

function verdicts({ reviews }: { reviews: readonly { reviewer: string; verdict: string }[] }): Record<string, string> {
  return Object.fromEntries(reviews.map(({ reviewer, verdict }) => [reviewer, verdict]));
}
