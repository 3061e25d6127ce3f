import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { addProject } from '../../../platform/admin/projects.ts';
import { insertExportJob } from '../../../platform/store/export-jobs.ts';
import { findUserByEmail, insertMember } from '../../../platform/store/members.ts';
import { ensureOrganization } from '../../../platform/store/organizations.ts';
import { getProject } from '../../../platform/store/projects.ts';
import { pullRequests } from '../../../platform/store/schema/pull-requests.ts';
import { type Browser, createKeyOnPage, formsOf } from './browser.ts';
import { type DashboardFixture, startDashboard } from './dashboard-fixture.ts';

const [EMAIL, KEYS] = ['ada@example.com', '/ui/settings/keys'];
const AGENT_JOB = `aj_${'0'.repeat(16)}`;
const PULL_REQUEST = `/pulls/pr_${'0'.repeat(32)}`;

describe('the dashboard of someone in two organizations', () => {
  let fixture: DashboardFixture;
  let ada: Browser;
  let own: string;
  const project = { organizationId: '', projectId: '', domain: '' };

  beforeAll(async () => {
    fixture = await startDashboard();
    ada = await fixture.setUp(EMAIL, 'Handbook');
    const { platform } = fixture;
    own = (await ensureOrganization(platform.db, { name: 'Handbook', plan: 'enterprise' })).id;
    const { project: projectId, domain } = await platform.addCustomer();
    const { organizationId = '' } = (await getProject(platform.db, projectId)) ?? {};
    Object.assign(project, { organizationId, projectId, domain });
    await platform.db.insert(pullRequests).values({
      ...{ id: PULL_REQUEST.slice(7), projectId, repository: 'file:///nowhere/docs.git', number: 1 },
      ...{ author: 'galley', title: 'Change', body: '', headBranch: `galley/${AGENT_JOB}`, headSha: 'a'.repeat(40) },
      ...{ baseBranch: 'main', baseSha: 'b'.repeat(40) },
    });
  });
  beforeEach(() => joinCustomer());
  afterAll(() => fixture?.stop());

  async function joinCustomer(): Promise<void> {
    const user = await findUserByEmail(fixture.platform.db, EMAIL);
    const member = { id: randomUUID(), organizationId: project.organizationId, userId: user?.id ?? '', role: 'owner' };
    await leaveCustomer();
    await insertMember(fixture.platform.db, member);
  }

  /** Of the customer's project, queued. */
  async function addExport(): Promise<string> {
    const job = { ...project, version: null, paths: null, at: new Date() };
    return (await fixture.platform.db.transaction((tx) => insertExportJob(tx, job))).id;
  }

  async function leaveCustomer(): Promise<void> {
    await fixture.platform.db.execute(sql`delete from members where organization_id = ${project.organizationId}`);
  }

  async function workIn(organization: string): Promise<void> {
    const done = await ada.submit('/ui/account', '/ui/account/organization', { organization });
    expect([done.status, done.location]).toEqual([303, '/']);
  }

  async function fieldsOf(page: string, action: string): Promise<Record<string, string>> {
    const form = formsOf((await ada.get(page)).text).find((each) => each.action === action);
    if (form === undefined) throw new Error(`${page} has no form ${action}`);
    return form.hidden;
  }

  it('rejects a form of the one after a switch to the other or a removal, and asks to reload the page', async () => {
    const fields = { name: 'CI', days: '', addresses: '' };
    const keys = async () =>
      (await fixture.platform.db.execute(sql`select count(*)::int as n from api_keys`)).rows[0]?.n;
    for (const leave of [() => workIn(own), leaveCustomer]) {
      await workIn(project.organizationId);
      const [created, signOut, before] = [
        await fieldsOf(KEYS, KEYS),
        await fieldsOf(KEYS, '/ui/sign-out'),
        await keys(),
      ];
      await leave();
      const refused = await ada.post(KEYS, { ...created, ...fields });
      expect([refused.status, await keys()]).toEqual([403, before]);
      expect(refused.text).toContain('reload the page and try again');
      expect((await ada.post('/ui/sign-out', signOut)).status).toBe(403);
      expect(await createKeyOnPage(ada, fields)).not.toBe('');
    }
  });

  it('leads a reviewer with an account from a pull request to its agent job, and nobody else', async () => {
    const way = `href="/ui/agents/${AGENT_JOB}"`;
    expect((await ada.get(PULL_REQUEST)).text).toContain(way);
    expect((await fixture.browser().get(PULL_REQUEST)).text).not.toContain(way);
  });

  it('accepts the form of a pull request of the one while the other is active', async () => {
    await workIn(project.organizationId);
    const { text } = await ada.get(PULL_REQUEST);
    await workIn(own);
    const { csrf = '' } = formsOf(text)[0]?.hidden ?? {};
    expect((await ada.post(`${PULL_REQUEST}/close`, { csrf: `${csrf}x` })).status).toBe(403);
    expect((await ada.post(`${PULL_REQUEST}/close`, { csrf })).status).toBe(303);
  });

  it('sends a list again whenever a job comes or goes, and never one of the other', async () => {
    const { db, baseUrl } = fixture.platform;
    const open = async () => {
      const cookie = [...ada.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const { body } = await fetch(`${baseUrl}/ui/exports/events?domain=&status=queued`, { headers: { cookie } });
      if (body === null) throw new Error('no stream');
      return body.pipeThrough(new TextDecoderStream()).getReader();
    };
    /** What the stream sends until it has this text. Fails if it ends before. */
    const readUntil = async (stream: Awaited<ReturnType<typeof open>>, text: string): Promise<string> => {
      let sent = '';
      while (!sent.includes(text)) {
        const { done, value } = await stream.read();
        if (done) throw new Error(`ended after ${sent}`);
        sent += value;
      }
      return sent;
    };
    await workIn(own);
    const others = await open();
    let toOthers = await readUntil(others, 'No exports here');
    await workIn(project.organizationId);
    const customers = await open();
    await readUntil(customers, 'No exports here');
    const id = await addExport();
    await readUntil(customers, id);
    await db.execute(sql`update export_jobs set status = 'failed', finished_at = now() where id = ${id}`);
    await readUntil(customers, 'No exports here');
    await customers.cancel();
    // A job of their own is the later event that shows that they got no other.
    const [domain, projectId] = ['own.example.com', 'prj_own'];
    await addProject(db, { organization: 'Handbook', project: projectId, domain });
    const ownJob = { organizationId: own, projectId, domain, version: null, paths: null, at: new Date() };
    await workIn(own);
    toOthers += await readUntil(others, (await db.transaction((tx) => insertExportJob(tx, ownJob))).id);
    expect(toOthers).not.toContain(id);
    await others.cancel();
  });

  it('rejects a wrong query before a live list starts', async () => {
    expect((await ada.get('/ui/exports/events?status=wrong')).status).toBe(400);
    expect((await ada.get('/ui/agents/events?cursor=wrong')).status).toBe(400);
  });

  const setRole = (role: string) => () =>
    fixture.platform.db.execute(
      sql`update members set role = ${role} where organization_id = ${project.organizationId}`,
    );

  it.each([
    ['was removed from it', leaveCustomer],
    ['has another role there', setRole('reviewer')],
  ])('ends a live page of the one for someone who %s', async (_what, change) => {
    const { db, baseUrl } = fixture.platform;
    const id = await addExport();
    await workIn(project.organizationId);
    const cookie = [...ada.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const live = await fetch(`${baseUrl}/ui/exports/${id}/events`, { headers: { cookie }, redirect: 'manual' });
    expect(live.status).toBe(200);
    await change();
    // It ends only if the server ends it.
    expect(await live.text()).toContain('data: ');
    expect((await ada.get('/ui/exports')).status).toBe(200);
    await db.execute(sql`update export_jobs set status = 'failed', finished_at = now() where id = ${id}`);
  });

  it('moves a project to an organization that the person owns too, and removes it and the organization', async () => {
    await workIn(project.organizationId);
    const path = `/ui/projects/${project.projectId}`;
    expect((await ada.get(path)).text).toContain(`${path}/move`);
    const elsewhere = await ada.submit(`${path}/move`, `${path}/move`, { organization: 'of nobody' });
    expect([elsewhere.status, elsewhere.text]).toEqual([
      403,
      expect.stringContaining('expected another one that you own'),
    ]);
    await addExport();
    const running = await ada.submit(`${path}/move`, `${path}/move`, { organization: 'Handbook' });
    expect([running.status, running.text]).toEqual([409, expect.stringContaining('while a job runs')]);
    await fixture.platform.db.execute(sql`update export_jobs set status = 'failed', finished_at = now()`);
    const moved = await ada.submit(`${path}/move`, `${path}/move`, { organization: 'Handbook' });
    expect([moved.status, moved.location]).toEqual([303, '/ui/projects?done=project-moved']);
    expect((await ada.get(path)).status).toBe(404);

    const organization = '/ui/settings/members/organization/remove';
    const other = await ada.submit(organization, organization, { name: 'Handbook' });
    expect([other.status, other.text]).toEqual([400, expect.stringContaining('the organization that is removed')]);
    const { rows } = await fixture.platform.db.execute<{ name: string }>(
      sql`select name from organizations where id = ${project.organizationId}`,
    );
    const gone = await ada.submit(organization, organization, { name: rows[0]?.name ?? '' });
    expect([gone.status, gone.location]).toEqual([303, '/?done=organization-removed']);

    // The person is in the other one now, which has the project.
    const removed = await ada.submit(`${path}/remove`, `${path}/remove`, { domain: project.domain });
    expect([removed.status, removed.location]).toEqual([303, '/ui/projects?done=project-removed']);
    expect((await ada.get(path)).status).toBe(404);
    const audit = await fixture.platform.db.execute(
      sql`select actor_name, action from audit_log where action like 'project.%' and organization_id = ${own} order by id`,
    );
    expect(audit.rows).toEqual([
      { actor_name: EMAIL, action: 'project.move' },
      { actor_name: EMAIL, action: 'project.remove' },
    ]);
  });
});
