import { sql } from 'drizzle-orm';
import { ChangePage } from '../../../api/pages/change-page.tsx';
import { addProject } from '../../../platform/admin/projects.ts';
import { renderPart } from '../../../ui/page.tsx';
import { changeState, SIGNED } from '../../api/pages/sample-pages.tsx';
import { createKeyOnPage } from './browser.ts';
import { type DashboardFixture, startDashboard } from './dashboard-fixture.ts';

const [OWN, EMAIL, NOW] = ['Own', 'ada@example.com', '2026-11-28T12:00:00Z'];
/** An id of a letter and zeros. */
const idOf = (prefix: string, letter: string, length: number) => `${prefix}_${letter}${'0'.repeat(length - 1)}`;

/** An export, its word, and whether the overview says that it needs a person. */
const EXPORTS = [
  { id: idOf('se', 'a', 16), status: 'failed', error: 'cancelled', word: 'Canceled', needs: false },
  { id: idOf('se', 'b', 16), status: 'failed', error: 'The origin responds with 503', word: 'Failed', needs: true },
  { id: idOf('se', 'c', 16), status: 'running', error: null, word: 'Running', needs: false },
  { id: idOf('se', 'd', 16), status: 'completed', error: null, word: 'Completed', needs: false },
] as const;

/** An agent job without a pull request, its word, and whether it needs a person. */
const JOBS = [
  { id: idOf('aj', 'a', 16), status: 'failed', error: 'cancelled', word: 'Canceled', needs: false },
  { id: idOf('aj', 'b', 16), status: 'failed', error: 'No space is left', word: 'Failed', needs: true },
  { id: idOf('aj', 'c', 16), status: 'archived', error: 'No space is left', word: 'Archived', needs: false },
] as const;

/** A pull request of a completed job, its word, and whether it needs a person. */
const PULLS = [
  { job: idOf('aj', 'd', 16), id: idOf('pr', 'd', 32), state: 'open', word: 'Open', needs: true },
  { job: idOf('aj', 'e', 16), id: idOf('pr', 'e', 32), state: 'merged', word: 'Merged', needs: false },
  { job: idOf('aj', 'f', 16), id: idOf('pr', 'f', 32), state: 'closed', word: 'Closed', needs: false },
] as const;

/** The text of a page or a row, its parts separated by bars. */
const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, '|').replaceAll(/(\s*\|\s*)+/g, '|');

describe("the dashboard's views of one object", () => {
  let fixture: DashboardFixture;
  let key: string;
  let pageOf: (path: string) => Promise<string>;
  let rowOf: (path: string, link: string) => Promise<string>;

  beforeAll(async () => {
    fixture = await startDashboard({ now: () => Date.parse(NOW) });
    const owner = await fixture.setUp(EMAIL, OWN);
    key = await createKeyOnPage(owner, { name: 'CI', days: '', addresses: '' });
    pageOf = async (path) => (await owner.get(path)).text;
    // The table's row that links to a path; empty without one.
    rowOf = async (path, link) =>
      textOf((await pageOf(path)).split('<tr').find((row) => row.includes(`href="${link}"`)) ?? '');
    await addJobs();
  });
  afterAll(() => fixture?.stop());

  async function addJobs(): Promise<void> {
    const { db, baseUrl } = fixture.platform;
    for (const { id, status, error } of EXPORTS) {
      const project = `prj_${id.slice(3)}`;
      await addProject(db, { organization: OWN, project, domain: `${id.slice(3)}.example.com` });
      await db.execute(sql`
        insert into export_jobs (id, organization_id, project_id, domain, version, status, error, created_at, finished_at)
        select ${id}, organization_id, id, domain, '1', ${status === 'completed' ? 'queued' : status}, ${error}, ${NOW},
          ${status === 'failed' ? NOW : null}
        from projects where id = ${project}`);
      if (status === 'completed') await fixture.platform.complete(id);
    }
    // Of the exports' projects, the one whose newest export failed; a canceled one after it says nothing of it.
    await db.execute(sql`
      insert into export_jobs (id, organization_id, project_id, domain, version, status, error, created_at, finished_at)
      select 'se_e', organization_id, project_id, domain, '2', 'failed', 'cancelled', ${NOW}, ${NOW}
      from export_jobs where id = ${EXPORTS[1].id}`);
    await addProject(db, { organization: OWN, project: 'prj_agents', domain: 'agents.example.com' });
    const pulls = PULLS.map(({ job, id, state }) => ({
      id: job,
      status: 'completed',
      error: null,
      pull: { id, state },
    }));
    for (const job of [...JOBS.map((each) => ({ ...each, pull: undefined })), ...pulls]) {
      const { id, status, error, pull } = job;
      const link = pull ? `${baseUrl}/pulls/${pull.id}` : null;
      await db.execute(sql`
        insert into agent_jobs (id, organization_id, project_id, repository, model, status, error, pr_link, branch, updated_at)
        select ${id}, organization_id, id, 'file:///nowhere/docs.git', 'm', ${status}, ${error}, ${link}, ${id}, ${NOW}
        from projects where id = 'prj_agents'`);
      if (pull === undefined) continue;
      const merged = pull.state === 'merged' ? 'c'.repeat(40) : null;
      await db.execute(sql`
        insert into pull_requests (id, project_id, repository, number, author, title, body, head_branch, head_sha,
          base_branch, base_sha, state, merge_commit_sha, ended_at)
        select ${pull.id}, 'prj_agents', 'file:///nowhere/docs.git', count(*) + 1, 'galley', 'New words', '',
          ${`galley/${id}`}, ${'a'.repeat(40)}, 'main', ${'b'.repeat(40)}, ${pull.state}, ${merged},
          ${pull.state === 'open' ? null : NOW}
        from pull_requests`);
    }
  }

  /** What the public API has. */
  async function answerOf(path: string): Promise<{ status: number; json: unknown }> {
    const headers = { authorization: `Bearer ${key}`, accept: 'application/json' };
    const response = await fetch(fixture.platform.baseUrl + path, { headers });
    return { status: response.status, json: await response.json() };
  }

  it.each(EXPORTS)('are of one word for an export that is $word', async ({ id, status, word, needs }) => {
    const page = `/ui/exports/${id}`;
    expect(await rowOf('/ui/exports', page)).toContain(`|${word}|`);
    expect(textOf(await pageOf(page))).toContain(`|${word}|`);
    expect(await rowOf('/', page)).toMatch(needs ? `|Export ${word.toLowerCase()}|` : /^$/);
    expect((await answerOf(`/v1/static-export/jobs/${id}`)).json).toMatchObject({ status });
  });

  it('have the rest of an export whose bundle is damaged', async () => {
    const { id } = EXPORTS[3];
    expect(textOf(await pageOf(`/ui/exports/${id}`))).toContain('|Completed|');
    const changes = await answerOf(`/v1/static-export/jobs/${id}/changes`);
    expect(changes).toEqual({ status: 404, json: { error: `The stored bundle of ${id} is damaged` } });
  });

  it('say that a project needs a person if only a canceled export followed a failed one', async () => {
    expect(textOf(await pageOf('/'))).toContain('|Needs a person|3 jobs, listed below|');
  });

  it.each(JOBS)('are of one word for an agent job that is $word', async ({ id, status, word, needs }) => {
    const page = `/ui/agents/${id}`;
    expect(await rowOf('/ui/agents', page)).toContain(`|${word}|`);
    expect(textOf(await pageOf(page))).toContain(`|${word}|`);
    expect(await rowOf('/', page)).toMatch(needs ? `|Agent job ${word.toLowerCase()}|` : /^$/);
    expect((await answerOf(`/v2/agent/prj_agents/job/${id}`)).json).toMatchObject({ status });
  });

  it.each(PULLS)('are of one word for a pull request that is $word', async ({ job, id, state, word, needs }) => {
    const [jobPage, href] = [`/ui/agents/${job}`, `${fixture.platform.baseUrl}/pulls/${id}`];
    const link = `<a href="${href}">${word}</a>`;
    expect(await pageOf('/ui/agents')).toContain(link);
    const shown = await pageOf(jobPage);
    expect(shown).toContain(link);
    expect(textOf(shown)).toMatch(new RegExp(`\\|New words\\|#\\d\\|${word}\\|`));
    expect(textOf(await pageOf(`/pulls/${id}`))).toMatch(new RegExp(`\\|nowhere/docs\\|${word}\\|`));
    expect(await rowOf('/', jobPage)).toMatch(needs ? `|Pull request ${word.toLowerCase()}|New words|` : /^$/);
    const change = changeState({ prLink: href, pullRequest: { title: 'New words', state } });
    const view = { signed: SIGNED, workflowId: 'agent:docs:words:1', workflowUrl: undefined, now: new Date(NOW) };
    expect(renderPart(ChangePage({ ...view, state: change }))).toContain(link);
  });
});
