import { sql } from 'drizzle-orm';
import { createKey } from '../../../platform/admin/api-keys.ts';
import { addProject } from '../../../platform/admin/projects.ts';
import type { Browser } from './browser.ts';
import { type DashboardFixture, startDashboard } from './dashboard-fixture.ts';

const NOW = new Date('2026-11-28T12:00:00.000Z');
const OWN = 'Own';

describe("the dashboard's overview", () => {
  let fixture: DashboardFixture;
  let owner: Browser;

  beforeAll(async () => {
    fixture = await startDashboard({ now: () => NOW.getTime() });
    owner = await fixture.setUp('ada@example.com', OWN);
  });
  afterAll(() => fixture?.stop());

  /** The text of the page, its parts separated by bars. */
  const shown = async (browser = owner) =>
    (await browser.get('/')).text.replaceAll(/<[^>]+>/g, '|').replaceAll(/(\s*\|\s*)+/g, '|');
  const stepsOf = async (browser: Browser) => {
    const { text } = await browser.get('/');
    return [...(/<ol class="steps">(.*?)<\/ol>/s.exec(text)?.[1] ?? '').matchAll(/href="([^"]+)"|(Done)/g)].map(
      ([, href, done]) => href ?? done,
    );
  };
  const add = (project: string, organization = OWN) =>
    addProject(fixture.platform.db, { organization, project, domain: `${project.slice(4)}.example.com` });

  it('leads a new organization from one step to the next', async () => {
    expect(await stepsOf(owner)).toEqual(['/ui/projects']);
    const reviewer = await fixture.invite(owner, 'bob@example.com', 'reviewer');
    expect(await stepsOf(reviewer)).toEqual([]);
    expect(await shown(reviewer)).toContain('|for owners and developers|');
    await add('prj_docs');
    expect(await stepsOf(owner)).toEqual(['Done', '/ui/settings/keys']);
    await createKey(fixture.platform.db, { organization: OWN });
    expect(await stepsOf(owner)).toEqual(['Done', 'Done', '/ui/exports']);
    expect(await shown()).not.toContain('30 days');
  });

  it('says what runs, what needs a person, how long jobs took and how often they failed', async () => {
    const { db } = fixture.platform;
    await add('prj_blog');
    await add('prj_new');
    await createKey(db, { organization: 'Other' });
    await add('prj_other', 'Other');
    // Twenty exports that took 1 to 20 minutes, from yesterday; the last day that counts, and the one before.
    await db.execute(sql`
      insert into export_jobs (id, organization_id, project_id, domain, version, status, error, created_at, finished_at)
      select concat('e-', name), organization_id, project, domain, '1', status, error, ended::timestamptz - took, ended::timestamptz
      from (
        select 'docs-' || n, 'prj_docs', 'completed', null, n * interval '1 minute', '2026-11-27T10:00:00Z'
          from generate_series(1, 20) n
        union all values
          ('canceled', 'prj_docs', 'failed', 'cancelled', interval '1 hour', '2026-11-27T10:00:00Z'),
          ('first-day', 'prj_docs', 'failed', 'first', interval '1 hour', '2026-10-30T00:00:00Z'),
          ('before', 'prj_docs', 'failed', 'before', interval '1 hour', '2026-10-29T23:59:59Z'),
          ('blog', 'prj_blog', 'failed', 'The origin responds with 503', interval '1 second', '2026-11-28T11:00:00Z'),
          ('other', 'prj_other', 'failed', 'not to be seen', interval '1 second', '2026-11-28T11:00:00Z')
      ) job (name, project, status, error, took, ended) join projects on projects.id = project
      order by name = 'docs-20'`);
    await db.execute(sql`
      insert into export_jobs (id, organization_id, project_id, domain, version, created_at)
      select 'e-running', organization_id, id, domain, '2', '2026-11-28T11:59:00Z' from projects where id = 'prj_new'`);
    await db.execute(sql`
      insert into agent_jobs (id, organization_id, project_id, repository, model, status, error, pr_link, branch, updated_at)
      select concat('a-', name), organization_id, projects.id, 'file:///r', 'm', status, error, link, name, '2026-11-28T09:00:00Z'
      from projects, (values ('failed', 'failed', 'No space', null), ('open', 'completed', null, 'http://x/pulls/pr_1'),
        ('merged', 'completed', null, 'http://x/pulls/pr_2'), ('canceled', 'failed', 'cancelled', null)) job (name, status, error, link)
      where projects.id = 'prj_docs'`);
    await db.execute(sql`
      insert into agent_runs (job_id, run, prompt_json, status, created_at, finished_at)
      select id, 1, '""', status, '2026-11-28T11:30:00Z', '2026-11-28T11:31:00Z' from agent_jobs`);
    await db.execute(sql`
      insert into pull_requests (id, repository, number, author, title, body, head_branch, head_sha, base_branch, base_sha, state, merge_commit_sha, created_at)
      values ('pr_1', 'file:///r', 1, 'g', 'New words', '', 'h', 's', 'b', 's', 'open', null, '2026-11-28T10:00:00Z'),
        ('pr_2', 'file:///r', 2, 'g', 'Merged', '', 'h', 's', 'b', 's', 'merged', 's', '2026-11-28T10:00:00Z')`);

    const text = await shown();
    expect(text).toContain('|Runs|1 export|Needs a person|3 jobs, listed below|');
    expect(text).toContain('|Exports started in the last hour|1 of 60|Prompts in the last hour, per project|4 of 100|');
    // The newest first; a canceled job needs nobody.
    expect(text).toContain(
      [
        '|blog.example.com|Export failed|The origin responds with 503|1 h ago',
        'docs.example.com|Pull request open|New words|2 h ago',
        'docs.example.com|Agent job failed|No space|3 h ago|',
      ].join('|'),
    );
    expect(text).not.toContain('not to be seen');
    // By nearest rank: the 10th and the 19th of 20.
    expect(text).toContain('|blog.example.com|1 of 1|–|–|docs.example.com|1 of 21|10 min|19 min|');
    expect(text).toContain('|docs.example.com|2 of 4|1 min|1 min|');
    // The plot and its table have the same numbers, scaled to the busiest day.
    expect(text).toContain('|Per day, the most: 20|');
    expect(text).toContain('|2026-11-27: 20 completed, 0 failed|');
    expect(text).toContain('|2026-11-28|0|1|2026-11-27|20|0|2026-10-30|0|1|');
    expect((await owner.get('/')).text).toMatch(
      /2026-11-27: 20 completed[\s\S]*?<rect x="450" y="0" width="12" height="96"/,
    );
  });
});
