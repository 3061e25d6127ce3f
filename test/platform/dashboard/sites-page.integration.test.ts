import { sql } from 'drizzle-orm';
import { addProject } from '../../../platform/admin/projects.ts';
import { insertAgentJob } from '../../../platform/store/agent-jobs.ts';
import { completeExportJob } from '../../../platform/store/export-job-transitions.ts';
import { insertExportJob } from '../../../platform/store/export-jobs.ts';
import { createSignInLinks, type LinkPerson } from '../../../web/sign-in-links.ts';
import { createSecurityKey } from '../../helpers/security-key.ts';
import { type DashboardFixture, PASSWORD, startDashboard } from './dashboard-fixture.ts';

describe('the dashboard beside a sites page', () => {
  const links = createSignInLinks();
  const opened: string[] = [];
  /** What the sites page is told of people, by name. */
  const ids = new Map<string, string>();
  let organizationId: string | undefined;
  let fixture: DashboardFixture;

  beforeAll(async () => {
    fixture = await startDashboard({
      sitesPage: {
        links,
        organizationId: () => organizationId,
        temporal: { url: 'http://127.0.0.1:8233', workflowUrl: (id) => `http://127.0.0.1:8233/${id}` },
        siteOf: (domain) => (domain === 'docs.example.com' ? 'docs' : undefined),
        changeOf: async (site, prLink) => `agent:${site}:changelog:${prLink.split('/').at(-1)}`,
        servedAt: async (_domain, jobId) => (jobId === 'se_served' ? ['http://127.0.0.1:4000/'] : []),
        open(to, { id = '', name = '' }) {
          ids.set(name, id);
          opened.push(`${name} to ${to}`);
          return 'http://127.0.0.1:3000/ui/sign-in?link=secret';
        },
      },
    });
  });
  afterAll(() => fixture?.stop());

  const signInWith = async (email: string) => {
    const browser = fixture.browser();
    expect((await browser.post('/ui/sign-in', { to: '', email, password: PASSWORD })).status).toBe(303);
    return browser;
  };

  const pathOf = (link: string, to = '') => `/ui/sign-in/link?link=${link}&to=${encodeURIComponent(to)}`;

  it("leads to the first administrator's link while there is nobody", async () => {
    const [path] = [pathOf(links.create())];
    expect((await fixture.browser().get(path)).location).toMatch(/\/ui\/setup\?link=/);
  });

  it('shows the sites page to owners of its organization only', async () => {
    const owner = await fixture.setUp('ada@example.com', 'Own');
    const { rows } = await fixture.platform.db.execute<{ id: string }>(sql`select id from organizations`);
    expect((await owner.get('/')).text).not.toContain('/ui/open-sites');
    organizationId = rows[0]?.id;
    expect((await owner.get('/')).text).toContain('href="/ui/open-sites"');
    const { status, location } = await owner.get('/ui/open-sites?to=/ui/sites/docs');
    expect([status, location]).toEqual([303, 'http://127.0.0.1:3000/ui/sign-in?link=secret']);
    await owner.get('/ui/open-sites?to=//evil.example');
    expect(opened).toEqual(['Ada to /ui/sites/docs', 'Ada to /']);
    for (const role of ['developer', 'reviewer'] as const) {
      const other = await fixture.invite(owner, `${role}@example.com`, role);
      expect((await other.get('/')).text).not.toContain('/ui/open-sites');
      expect((await other.get('/ui/open-sites')).status).toBe(403);
    }
  });

  it('leads an owner from an export to its site and its workflow, and nobody else', async () => {
    const { db } = fixture.platform;
    const [domain, projectId] = ['docs.example.com', 'prj_docs'];
    await addProject(db, { organization: 'Own', project: projectId, domain });
    const own = { organizationId: organizationId ?? '', projectId, domain };
    const { id } = await db.transaction((tx) =>
      insertExportJob(tx, { ...own, version: null, paths: null, at: new Date() }),
    );
    const page = `/ui/exports/${id}`;
    const shown = (await (await signInWith('ada@example.com')).get(page)).text;
    expect(shown).toContain('href="/ui/open-sites?to=%2Fui%2Fsites%2Fdocs"');
    expect(shown).toContain(`href="http://127.0.0.1:8233/${id}"`);
    expect(shown).not.toContain('Served at');
    expect(shown).toContain('href="http://127.0.0.1:8233">Temporal</a>');
    expect((await (await signInWith('developer@example.com')).get(page)).text).not.toMatch(/:8233|open-sites/);
  });

  it('says where an export is served that a deployment reports', async () => {
    const { db } = fixture.platform;
    await db.execute(sql`update export_jobs set id = 'se_served', status = 'running' where project_id = 'prj_docs'`);
    // Its files are gone, as those of an old export may be.
    await completeExportJob(db, 'se_served', {
      ...{ pageCount: 1, archiveKey: 'a', archiveSha256: 'b', archiveSizeBytes: 1, contentSha256: 'c' },
      ...{ manifestSha256: 'd', reportKey: 'e' },
    });
    const shown = (await (await signInWith('developer@example.com')).get('/ui/exports/se_served')).text;
    expect(shown).toMatch(/Served at<\/dt><dd[^>]*><div><a href="http:\/\/127\.0\.0\.1:4000\/">/);
  });

  it("leads an owner from an agent's job to its site and its change", async () => {
    const { db } = fixture.platform;
    const of = {
      organizationId: organizationId ?? '',
      projectId: 'prj_docs',
      repository: '',
      ref: null,
      at: new Date(),
    };
    const job = await db.transaction((tx) => insertAgentJob(tx, { ...of, model: 'a-model', prompt: 'Go.' }));
    const owner = await signInWith('ada@example.com');
    const linksOf = async (browser: typeof owner) =>
      [...(await browser.get(`/ui/agents/${job.id}`)).text.matchAll(/href="\/ui\/open-sites\?to=([^"]+)"/g)].map(
        ([, to = '']) => decodeURIComponent(decodeURIComponent(to)),
      );
    expect(await linksOf(owner)).toEqual(['/ui/sites/docs']);
    await db.execute(sql`update agent_jobs set pr_link = 'http://x/pulls/pr_1' where id = ${job.id}`);
    expect(await linksOf(owner)).toEqual(['/ui/sites/docs', '/ui/changes/agent:docs:changelog:pr_1']);
    expect(await linksOf(await signInWith('developer@example.com'))).toEqual([]);
  });

  const signIn = async (person: LinkPerson) => {
    const browser = fixture.browser();
    const path = pathOf(links.create(person));
    return { browser, path, page: await browser.get(path) };
  };

  it('signs back in who came from here, as long as they are an owner', async () => {
    const owner = await signInWith('ada@example.com');
    const other = await fixture.invite(owner, 'bob@example.com', 'owner');
    await other.get('/ui/open-sites');
    const bob = { id: ids.get('bob') ?? '', name: 'bob' };
    const { browser, path, page } = await signIn(bob);
    expect(page.text).toContain('Sign in as bob@example.com');
    expect((await browser.submit(path, '/ui/sign-in/link')).status).toBe(303);
    expect((await browser.get('/ui/account')).text).toContain('bob@example.com');
    await fixture.platform.db.execute(sql`update members set role = 'developer' where user_id = ${bob.id}`);
    expect((await signIn(bob)).page.status).toBe(403);
    expect((await fixture.browser().post('/ui/sign-in/link', { link: links.create(bob), to: '' })).status).toBe(403);
  });

  it('says in the audit log that an operator came as the first owner, who has proved nothing', async () => {
    const { browser, path } = await signIn({ name: 'Linus' });
    await browser.submit(path, '/ui/sign-in/link');
    const account = await browser.get('/ui/account');
    expect(account.text).toContain('ada@example.com');
    expect(account.text).not.toContain('Add a passkey');
    expect((await createSecurityKey(fixture.platform.baseUrl).register(browser)).status).toBe(403);
    const log = (await browser.get('/ui/settings/audit')).text;
    expect(log).toContain('operator token: Linus');
    expect(log).toContain('Signed in as the owner, from the sites page');
  });

  it('signs the first owner in by a link, once, and to a page of its own', async () => {
    const link = links.create();
    const browser = fixture.browser();
    const page = await browser.get(pathOf(link, '/ui/exports?status=failed'));
    expect(page.text).toContain('Sign in as ada@example.com');
    expect((await browser.get('/')).location).toBe('/ui/sign-in?to=%2F');
    const done = await browser.submit(pathOf(link, '/ui/exports?status=failed'), '/ui/sign-in/link');
    expect([done.status, done.location]).toEqual([303, '/ui/exports?status=failed']);
    expect((await browser.get('/')).status).toBe(200);
    // Signed in already, it needs no link.
    expect((await browser.get(pathOf('used', '/ui/projects'))).location).toBe('/ui/projects');
    const again = await fixture.browser().post('/ui/sign-in/link', { link, to: '' });
    expect([again.status, again.location]).toEqual([303, '/ui/sign-in?reason=link']);
    const other = await fixture.browser().get(pathOf(link));
    expect(other.location).toBe('/ui/sign-in?reason=link');
    expect((await fixture.browser().get('/ui/sign-in?reason=link')).text).toContain('The link was used or has expired');
    const forged = await fixture
      .browser()
      .post('/ui/sign-in/link', { link: links.create() }, { origin: 'http://evil' });
    expect(forged.status).toBe(403);
  });

  it('keeps the password, and records the sign-in', async () => {
    await signInWith('ada@example.com');
    const { rows } = await fixture.platform.db.execute(
      sql`select id from audit_log where action = 'session.sign-in' and target = 'ada@example.com'`,
    );
    // By two links, and four times by the password.
    expect(rows).toHaveLength(6);
  });
});
