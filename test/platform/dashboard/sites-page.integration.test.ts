import { sql } from 'drizzle-orm';
import { createSignInLinks } from '../../../web/sign-in-links.ts';
import { type DashboardFixture, PASSWORD, startDashboard } from './dashboard-fixture.ts';

describe('the dashboard beside a sites page', () => {
  const links = createSignInLinks();
  const opened: string[] = [];
  let organizationId: string | undefined;
  let fixture: DashboardFixture;

  beforeAll(async () => {
    fixture = await startDashboard({
      sitesPage: {
        links,
        organizationId: () => organizationId,
        siteOf: (domain) => (domain === 'docs.example.com' ? 'docs' : undefined),
        open(to, name) {
          opened.push(`${name} to ${to}`);
          return 'http://127.0.0.1:3000/ui/sign-in?link=secret';
        },
      },
    });
  });
  afterAll(() => fixture?.stop());

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
    const browser = fixture.browser();
    const signed = await browser.post('/ui/sign-in', { to: '', email: 'ada@example.com', password: PASSWORD });
    expect(signed.status).toBe(303);
    const { rows } = await fixture.platform.db.execute(
      sql`select id from audit_log where action = 'session.sign-in' and target = 'ada@example.com'`,
    );
    // By the link, and by the password.
    expect(rows).toHaveLength(2);
  });
});
