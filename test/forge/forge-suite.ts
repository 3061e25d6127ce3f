import type { PullRequest } from '../../forge/forge.ts';
import type { ForgeError } from '../../forge/forge-error.ts';
import { allowedMs } from '../helpers/allowed-ms.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { caught } from './caught.ts';
import type { ForgeRig, ForgeSides, Place, TestRepository } from './forge-rig.ts';

const FILES = {
  'README.md': '# Handbook\n',
  'guides/start.md': '# Start\n\nRead this first, and the rest whenever you need it.\n',
  'guides/old.md': '# Old\n',
};

/** What every forge must do, whichever it is. Each test works in a repository of its own. */
export function describeForge(name: string, startRig: () => Promise<ForgeRig>): void {
  describe(`the forge ${name}`, () => {
    let rig: ForgeRig;
    let files: TestRepository;

    beforeAll(async () => {
      rig = await startRig();
    });
    afterAll(() => rig?.stop());
    beforeEach(async () => {
      files = await rig.createRepository(FILES);
    });

    const branch = 'galley/aj_0123456789abcdef';
    async function open(options: { title?: string; body?: string; content?: string } = {}): Promise<PullRequest> {
      await files.commit(branch, { 'README.md': options.content ?? '# Handbook of ours\n' });
      const { title = 'Name the handbook', body = 'As asked.' } = options;
      return rig.writer.openPullRequest({ repository: files.repository, branch, base: 'main', title, body });
    }
    const find = () => rig.writer.findPullRequest({ repository: files.repository, branch });

    describe('opens pull requests', () => {
      it('tells what it opened', async () => {
        const headSha = await files.commit(branch, { 'README.md': '# Ours\n' });
        const request = { repository: files.repository, branch, base: 'main', title: 'Rename', body: 'As asked.' };
        const opened = await rig.writer.openPullRequest(request);
        expect(opened).toEqual({
          url: expect.stringMatching(/^http/),
          number: 1,
          state: 'open',
          title: 'Rename',
          author: rig.people.author?.login ?? expect.any(String),
          headBranch: branch,
          headSha,
          baseBranch: 'main',
          mergeCommitSha: null,
        });
      });

      it('finds none where there never was one, and then the one that it opened', async () => {
        await files.commit(branch, { 'README.md': '# Ours\n' });
        expect(await find()).toBeNull();
        const opened = await open();
        expect(await find()).toEqual({ ...opened, headSha: expect.any(String) });
      });

      it('opens one when it is asked twice, one after the other or at once', async () => {
        const first = await open();
        expect((await open({ content: '# More\n' })).url).toBe(first.url);
        const both = await Promise.all([open({ content: '# Still more\n' }), find()]);
        expect(both.map((each) => each?.url)).toEqual([first.url, first.url]);

        const other = 'galley/aj_fedcba9876543210';
        await files.commit(other, { 'guides/old.md': '# Older\n' });
        const request = { repository: files.repository, branch: other, base: 'main', title: 'Two', body: '' };
        const [one, same] = await Promise.all([
          rig.writer.openPullRequest(request),
          rig.writer.openPullRequest(request),
        ]);
        expect(one.url).not.toBe(first.url);
        expect(same.url).toBe(one.url);
      });

      it('keeps the pull requests of several branches apart', async () => {
        const first = await open();
        for (const other of ['galley/aj_0123456789abcde', 'galley/aj_0123456789abcdef0']) {
          await files.commit(other, { 'guides/old.md': `# ${other}\n` });
          expect(await rig.writer.findPullRequest({ repository: files.repository, branch: other })).toBeNull();
        }
        expect((await find())?.url).toBe(first.url);
      });

      it('follows commits that are pushed to a branch that exists', async () => {
        const opened = await open();
        const headSha = await files.commit(branch, { 'guides/new.md': '# New\n' });
        const followed = async () => ((await find())?.headSha === headSha ? find() : null);
        expect(await waitFor(followed, { describe: 'followed' })).toEqual({ ...opened, headSha });
      });

      it('takes titles and texts as they are', async () => {
        const title = 'Say "$(id)" & <b>`{{ name }}`</b> ‮עברית';
        const opened = await open({ title, body: `${title}\n\n<script>alert(1)</script>\n` });
        expect(opened.title).toBe(title);
        expect((await rig.reader.readPullRequest(opened.url)).title).toBe(title);
      });

      it('shortens a title and a text that no forge would take', async () => {
        const opened = await open({ title: 'long '.repeat(200), body: 'x'.repeat(100_000) });
        expect(opened.title).toMatch(/^long long /);
        expect(opened.title.length).toBeLessThanOrEqual(255);
      });

      it('changes the title alone, the text alone, or nothing', async () => {
        const opened = await open();
        expect((await rig.writer.updatePullRequest(opened.url, { title: 'Another' })).title).toBe('Another');
        expect((await rig.writer.updatePullRequest(opened.url, { body: 'More.' })).title).toBe('Another');
        expect(await rig.writer.updatePullRequest(opened.url, {})).toEqual({ ...opened, title: 'Another' });
      });

      it('refuses a branch that was never pushed', async () => {
        const request = { repository: files.repository, branch: 'never-pushed', base: 'main', title: 'A', body: '' };
        expect(await caught(rig.writer.openPullRequest(request))).toMatchObject({ retryable: false });
      });
    });

    describe('tells how a pull request ended', () => {
      it('as merged, with the commit that the merge made', async () => {
        const opened = await open();
        expect((await rig.reader.readPullRequest(opened.url)).mergeCommitSha).toBeNull();
        const mergeCommitSha = await files.merge(opened.url);
        expect(await rig.reader.readPullRequest(opened.url)).toMatchObject({ state: 'merged', mergeCommitSha });
        expect(await find()).toMatchObject({ url: opened.url, state: 'merged', mergeCommitSha });
      });

      it('as closed, without a merge commit', async () => {
        const opened = await open();
        await files.close(opened.url);
        const expected = { url: opened.url, state: 'closed', mergeCommitSha: null };
        expect(await rig.reader.readPullRequest(opened.url)).toMatchObject(expected);
        expect(await find()).toMatchObject(expected);
      });

      it('and opens a new one for the same branch then, which is found before the ended one', async () => {
        const first = await open();
        await files.close(first.url);
        const second = await open({ content: '# Second\n' });
        expect(second.url).not.toBe(first.url);
        expect((await find())?.url).toBe(second.url);
        await files.close(second.url);
        expect(await find()).toMatchObject({ url: second.url, state: 'closed' });
      });
    });

    describe('tells what changed', () => {
      it('naming a moved file by its old and its new path', async () => {
        await files.commit(branch, {
          'guides/old.md': null,
          'guides/start.md': null,
          'guides/first steps.md': FILES['guides/start.md'],
          'guides/ünï.md': '# New\n',
        });
        const opened = await open();
        expect((await rig.reader.listChangedFiles(opened.url)).sort()).toEqual([
          'README.md',
          'guides/first steps.md',
          'guides/old.md',
          'guides/start.md',
          'guides/ünï.md',
        ]);
      });

      it('beyond the first page of a list', async () => {
        const names = Array.from({ length: 130 }, (_, index) => `many/${String(index).padStart(3, '0')}.md`);
        await files.commit(branch, Object.fromEntries(names.map((path) => [path, `# ${path}\n`])));
        const opened = await open();
        expect((await rig.reader.listChangedFiles(opened.url)).sort()).toEqual(['README.md', ...names]);
      });
    });

    describe('reads CODEOWNERS', () => {
      it('from the base branch, not from the proposal', async () => {
        const text = '# Ours\n*.md @ada ada@example.com\n/größe/ @ada\n';
        await files.commit('main', { CODEOWNERS: text });
        await files.commit(branch, { CODEOWNERS: '* @mallory\n' });
        expect(await rig.reader.readCodeOwners((await open()).url)).toBe(text);
      });

      it('wherever it stands', async () => {
        await files.commit('main', { 'docs/CODEOWNERS': '* @grace\n' });
        const opened = await open();
        expect(await rig.reader.readCodeOwners(opened.url)).toBe('* @grace\n');
      });

      it('and says null where there is none', async () => {
        expect(await rig.reader.readCodeOwners((await open()).url)).toBeNull();
      });
    });

    describe('asks for reviews', () => {
      it('of people that it knows, and again without harm', async () => {
        const { url } = await open();
        const logins = rig.people.reviewers.map(({ login }) => login);
        expect(await rig.reader.requestReviews(url, { logins: [], teams: [] })).toEqual({ requested: [], refused: [] });
        expect(await rig.reader.requestReviews(url, { logins, teams: [] })).toEqual({ requested: logins, refused: [] });
        expect(await rig.reader.requestReviews(url, { logins, teams: [] })).toEqual({ requested: logins, refused: [] });
      });

      it('of the others where one is unknown or is the author, and says why not', async () => {
        const { url } = await open();
        const logins = rig.people.reviewers.map(({ login }) => login);
        const odd = [rig.people.unknown, rig.people.author?.login].filter((each) => typeof each === 'string');
        const wanted = [...odd.slice(0, 1), ...logins, ...odd.slice(1)];
        const { requested, refused } = await rig.reader.requestReviews(url, { logins: wanted, teams: [] });
        expect(requested.sort()).toEqual([...logins].sort());
        expect(refused).toEqual(odd.map((login) => ({ name: login, reason: expect.stringMatching(/\w/) })));
      });

      it('and reads what each said last, a remark taking nothing back', async () => {
        const { url } = await open();
        const [ada, grace] = rig.people.reviewers;
        expect((await rig.reader.readPullRequest(url)).reviews).toEqual([]);
        await rig.reader.requestReviews(url, { logins: [ada.login, grace.login], teams: [] });
        expect((await rig.reader.readPullRequest(url)).reviews).toEqual([]);
        await files.review(url, ada, 'commented');
        await files.review(url, grace, 'changes-requested');
        expect(verdicts(await rig.reader.readPullRequest(url))).toEqual({
          [ada.login]: 'commented',
          [grace.login]: 'changes-requested',
        });
        await files.review(url, ada, 'changes-requested');
        await files.review(url, ada, 'approved');
        await files.review(url, grace, 'commented');
        const read = await rig.reader.readPullRequest(url);
        expect(verdicts(read)).toEqual({ [ada.login]: 'approved', [grace.login]: 'changes-requested' });
        for (const { at } of read.reviews) expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(600_000);
      });
    });

    describe('knows people', () => {
      it('by the address that they show, and the other way round', async () => {
        for (const { login, mail } of rig.people.reviewers) {
          expect(await rig.reader.findMail(login)).toBe(mail);
          if (mail !== null) expect(await rig.reader.findLogin(mail)).toBe(login);
        }
        expect(await rig.reader.findLogin('nobody-of-here@example.org')).toBeNull();
        expect(await rig.reader.findLogin('ada')).toBeNull();
        expect(await rig.reader.findMail('nobody-of-here')).toBeNull();
      });

      it('without telling an address that somebody keeps private', async () => {
        const { hidden } = rig.people;
        expect(await rig.reader.findLogin(hidden?.mail ?? 'private@example.org')).toBeNull();
        expect(await rig.reader.findMail(hidden?.login ?? 'private')).toBeNull();
      });
    });

    describe('explains itself', () => {
      async function failures(sides: ForgeSides & Place, opened: string): Promise<ForgeError[]> {
        const { repository, url } = sides.at ?? { repository: files.repository, url: opened };
        const request = { repository, branch, base: 'main', title: 'Another', body: '' };
        const calls = [
          sides.writer?.findPullRequest(request),
          sides.writer?.openPullRequest(request),
          sides.writer?.updatePullRequest(url, { title: 'Another' }),
          sides.reader?.readPullRequest(url),
          sides.reader?.listChangedFiles(url),
          sides.reader?.readCodeOwners(url),
          sides.reader?.requestReviews(url, { logins: ['ada'], teams: [] }),
        ];
        expect(sides.writer ?? sides.reader).not.toBeNull();
        return Promise.all(calls.filter((call) => call !== undefined).map(caught));
      }

      it('where the token is wrong: 401, not to be tried again', async () => {
        for (const error of await failures(rig.wrongToken, (await open()).url)) {
          expect(error).toMatchObject({ status: 401, retryable: false });
          expect(error.message).toMatch(/token|key/i);
        }
      });

      it('where the token lacks a right: which one', async () => {
        for (const error of await failures(rig.lackingRights, (await open()).url)) {
          expect([403, 404]).toContain(error.status);
          expect(error).toMatchObject({ retryable: false });
          expect(error.message).toMatch(rig.lackingRights.right);
        }
      });

      it('where the repository is unknown, or the address belongs to another forge', async () => {
        const unknown = { repository: rig.unknownRepository, branch, base: 'main', title: 'A', body: '' };
        const foreign = { ...unknown, repository: 'https://forge.elsewhere.example/acme/docs.git' };
        for (const request of [unknown, foreign]) {
          expect(await caught(rig.writer.findPullRequest(request))).toMatchObject({ retryable: false });
          expect(await caught(rig.writer.openPullRequest(request))).toMatchObject({ retryable: false });
        }
        const page = 'https://forge.elsewhere.example/acme/docs/pull/1';
        expect(await caught(rig.reader.readPullRequest(page))).toMatchObject({ retryable: false });
        expect(await caught(rig.writer.updatePullRequest(page, { title: 'A' }))).toMatchObject({ retryable: false });
      });

      it('where it is away or hangs: to be tried again, soon known', async () => {
        const { url } = await open();
        for (const sides of [rig.away, rig.hanging]) {
          const startedAt = Date.now();
          for (const error of await failures(sides, url)) {
            expect(error).toMatchObject({ status: null, retryable: true });
          }
          expect(Date.now() - startedAt).toBeLessThan(allowedMs(20_000));
        }
      });
    });
  });
}

function verdicts({ reviews }: { reviews: readonly { reviewer: string; verdict: string }[] }): Record<string, string> {
  return Object.fromEntries(reviews.map(({ reviewer, verdict }) => [reviewer, verdict]));
}
