import { sql } from 'drizzle-orm';
import pino from 'pino';
import { createKey } from '../../../platform/admin/api-keys.ts';
import { setProject } from '../../../platform/admin/projects.ts';
import { createResetLink } from '../../../platform/admin/reset-links.ts';
import { createSetupUrl } from '../../../platform/dashboard/first-administrator.ts';
import { createEmbeddedForge } from '../../../platform/forge/embedded-forge.ts';
import { buildMemberBundle } from '../../deployment/member-bundle.ts';
import { createTestRepository, type TestRepository } from '../../helpers/forge-repository.ts';
import type { Browser } from './browser.ts';
import { type Buttons, watchButtons } from './buttons.ts';
import { type DashboardFixture, PASSWORD, startDashboard } from './dashboard-fixture.ts';
import { routesOf } from './routes-of.ts';

const DOMAIN = 'docs.example.com';
const NEW_PASSWORD = 'another correct horse';

/** Pressed in Chromium, by user-path.system.test.ts and passkey-and-openid.system.test.ts. */
const SCRIPTED = ['SCRIPT data-copy', 'SCRIPT data-passkey=add', 'SCRIPT data-passkey=sign-in'];

describe('every button of the dashboard and of a pull request', () => {
  let fixture: DashboardFixture;
  let repository: TestRepository;
  let buttons: Buttons;
  let project: string;
  let owner: Browser;
  let db: DashboardFixture['platform']['db'];

  beforeAll(async () => {
    fixture = await startDashboard({ sendMail: async () => Promise.reject(new Error('The mail server is away')) });
    db = fixture.platform.db;
    repository = await createTestRepository({ 'README.md': '# Handbook\n' }, { bare: true });
    buttons = watchButtons(routesOf(fixture.platform));
  });
  afterAll(async () => {
    await fixture?.stop();
    await repository?.remove();
  });

  /** Presses a button and returns where it leads. */
  async function press(browser: Browser, page: string, label: string, fields: Record<string, string> = {}) {
    const { status, location, text } = await buttons.press(browser, page, label, fields);
    if (status >= 400) throw new Error(`${label} is ${status}: ${text.slice(0, 2_000)}`);
    return location ?? status;
  }

  /** It is what a person asked for: neither a failure nor an alert, and over. */
  function expectCanceled(text: string): void {
    expect(text).toMatch(/<span class="badge" data-tone="neutral">.{0,60}Canceled/);
    expect(text).not.toMatch(/role="alert"|data-tone="bad"|being canceled|>cancelled</);
  }

  const one = async (query: string) => String(Object.values((await db.execute(query)).rows[0] ?? {})[0]);

  test('signing up, in and out', async () => {
    const setUp = String(await createSetupUrl(db, fixture.platform.baseUrl)).slice(fixture.platform.baseUrl.length);
    owner = fixture.browser();
    const fields = { organization: 'Handbook', email: 'ada@example.com', name: 'Ada', password: PASSWORD };
    expect(await press(owner, setUp, 'POST /ui/setup', fields)).toBe('/?done=welcome');
    expect(await press(owner, '/', 'POST /ui/sign-out')).toBe('/ui/sign-in?reason=signed-out');
    const { email } = fields;
    const refused = await buttons.press(owner, '/ui/forgot', 'POST /ui/forgot', { email: 'nobody' });
    expect(refused.status).toBe(400);
    for (const part of ['value="nobody"', 'Enter your email']) expect(refused.text).toContain(part);
    expect(await press(owner, '/ui/forgot', 'POST /ui/forgot', { email })).toBe('/ui/sign-in?reason=mailed');
    const { url } = await createResetLink(db, { email, publicUrl: fixture.platform.baseUrl });
    const reset = url.slice(fixture.platform.baseUrl.length);
    expect(await press(owner, reset, 'POST /ui/reset', { password: NEW_PASSWORD })).toBe('/ui/sign-in?reason=reset');
    expect(await press(owner, '/ui/sign-in', 'POST /ui/sign-in', { email, password: NEW_PASSWORD })).toBe('/');
    const account = '/ui/account';
    const change = { current: NEW_PASSWORD, new: PASSWORD };
    expect(await press(owner, account, 'POST /ui/account/password', change)).toMatch(/password-changed/);
    await db.execute(sql`update sessions set created_at = now() - interval '11 minutes'`);
    expect(await press(owner, account, 'POST /ui/account/prove', { password: PASSWORD })).toBe(account);
    await db.execute(sql`
      insert into passkeys (id, user_id, name, public_key, credential_id, counter, device_type, backed_up)
      select 'passkey', id, 'Laptop', 'x', 'x', 0, 'singleDevice', false from users`);
    expect(await press(owner, `${account}/passkeys/passkey/remove`, 'POST /ui/account/passkeys/:id/remove')).toMatch(
      /passkey-removed/,
    );
    expect(await press(owner, `${account}/end-sessions`, 'POST /ui/account/end-sessions')).toBe(
      '/ui/sign-in?reason=everywhere',
    );
    await press(owner, '/ui/sign-in', 'POST /ui/sign-in', { email, password: PASSWORD });
  });

  test('projects and exports', async () => {
    expect(await press(owner, '/ui/projects', 'POST /ui/projects', { domain: DOMAIN })).toMatch(/project-added/);
    project = await one('select id from projects');
    const page = `/ui/projects/${project}`;
    const origin = fixture.platform.baseUrl;
    await setProject(db, { project, origin, repository: repository.url, ref: 'main' });
    const saved = {
      ...{ domain: DOMAIN, external: 'bundle', scripts: 'strip', render: 'http', discover: 'http' },
      ...{ robots: 'respect', sourceMaps: 'omit', incremental: 'true', search: 'off', markdown: 'keep' },
    };
    expect(await press(owner, page, 'POST /ui/projects/:projectId', saved)).toMatch(/project-saved/);
    expect((await owner.get(`${page}/check`)).text).toContain('What the origin says');
    expect(await press(owner, '/ui/exports', 'POST /ui/exports', { domain: DOMAIN })).toMatch(/export-started/);
    const job = await one('select id from export_jobs');
    expect(await press(owner, '/ui/exports', 'GET /ui/exports', { domain: DOMAIN, status: 'queued' })).toBe(200);
    const shown = `/ui/exports/${job}`;
    expect(await press(owner, `${shown}/cancel`, 'POST /ui/exports/:jobId/cancel')).toBe(
      `${shown}?done=export-canceled`,
    );
    expectCanceled((await owner.get(`${shown}?done=export-canceled`)).text);
    await press(owner, shown, 'POST /ui/exports/:jobId/again');
    const again = await one(`select id from export_jobs where status = 'queued'`);
    const bundle = await buildMemberBundle({ files: { 'index.html': '<title>Handbook</title>' }, jobId: again });
    await fixture.platform.complete(again, bundle);
    const text = await buttons.look(owner, `/ui/exports/${again}`);
    const download = /href="([^"]+)"[^>]*>Download</.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? 'no link';
    expect(Buffer.from(await (await fetch(download)).arrayBuffer())).toEqual(bundle);
    const preview = await press(owner, `/ui/exports/${again}`, 'POST /ui/exports/:jobId/preview');
    expect(await (await fetch(fixture.platform.baseUrl + preview)).text()).toBe('<title>Handbook</title>');
  });

  test('agent jobs', async () => {
    const prompt = { project, prompt: 'Write' };
    expect(await press(owner, '/ui/agents', 'POST /ui/agents', prompt)).toMatch(/job-created/);
    expect(await press(owner, '/ui/agents', 'GET /ui/agents', { project, status: 'active' })).toBe(200);
    const job = `/ui/agents/${await one('select id from agent_jobs')}`;
    expect(await press(owner, `${job}/cancel`, 'POST /ui/agents/:jobId/cancel')).toMatch(/job-canceled/);
    await db.execute(`update agent_jobs set status = 'failed', error = 'cancelled'`);
    expectCanceled((await owner.get(`${job}?done=job-canceled`)).text);
    expectCanceled((await owner.get('/ui/agents')).text);
    expect(await press(owner, job, 'POST /ui/agents/:jobId/message', { prompt: 'More' })).toMatch(/message-sent/);
    await db.execute(`update agent_jobs set status = 'completed'`);
    expect(await press(owner, `${job}/archive`, 'POST /ui/agents/:jobId/archive')).toMatch(/job-archived/);
  });

  test('keys, members and organizations', async () => {
    const keys = '/ui/settings/keys';
    expect(await press(owner, keys, 'POST /ui/settings/keys', { name: 'CI', days: '', addresses: '' })).toBe(keys);
    const first = `${keys}/${await one('select id from api_keys')}`;
    expect(await press(owner, `${first}/rotate`, 'POST /ui/settings/keys/:id/rotate', { days: '7' })).toBe(keys);
    const revoke = `${first}/revoke`;
    expect(await press(owner, revoke, 'POST /ui/settings/keys/:id/revoke')).toMatch(/key-revoked/);

    const members = '/ui/settings/members';
    expect(await press(owner, members, 'POST /ui/settings/members/organization', { name: 'Handbook' })).toMatch(
      /renamed/,
    );
    expect(await press(owner, '/ui/settings/audit', 'GET /ui/settings/audit', { person: 'ada@example.com' })).toBe(200);
    const invite = async (email: string): Promise<string> => {
      const role = 'reviewer';
      expect(await press(owner, members, 'POST /ui/settings/members', { email, role })).toMatch(/done=invited$/);
      return `/ui/invitations/${await one(`select id from invitations where email = '${email}' order by created_at desc limit 1`)}`;
    };
    const invitation = await invite('bob@example.com');
    const bob = fixture.browser();
    const joining = { name: 'Bob', password: PASSWORD };
    expect(await press(bob, invitation, 'POST /ui/invitations/:id', joining)).toBe('/?done=welcome');
    expect(await press(owner, members, 'POST /ui/settings/members/:id/role', { role: 'developer' })).toMatch(/role-/);
    const removal = /\/ui\/settings\/members\/[\w-]+\/remove/.exec(await buttons.look(owner, members))?.[0] ?? '';
    expect(await press(owner, removal, 'POST /ui/settings/members/:id/remove')).toMatch(/member-removed/);
    expect(await press(bob, await invite('bob@example.com'), 'POST /ui/invitations/:id')).toBe('/?done=welcome');
    await invite('eve@example.com');
    const cancel =
      /\/ui\/settings\/members\/invitations\/[\w-]+\/cancel/.exec(await buttons.look(owner, members))?.[0] ?? '';
    expect(await press(owner, cancel, 'POST /ui/settings/members/invitations/:id/cancel')).toMatch(/canceled/);

    await createKey(db, { organization: 'Elsewhere' });
    await db.execute(`insert into members (id, organization_id, user_id, role)
      select 'second', o.id, u.id, 'owner' from organizations o, users u
      where o.name = 'Elsewhere' and u.email = 'ada@example.com'`);
    const organization = await one(`select id from organizations where name = 'Elsewhere'`);
    expect(await press(owner, '/ui/account', 'POST /ui/account/organization', { organization })).toBe('/');
    const back = { organization: await one(`select id from organizations where name = 'Handbook'`) };
    await press(owner, '/ui/account', 'POST /ui/account/organization', back);
  });

  test('pull requests', async () => {
    const logger = pino({ level: 'silent' });
    const forge = createEmbeddedForge({ db, publicUrl: () => fixture.platform.baseUrl, logger });
    const open = async (branch: string): Promise<string> => {
      await repository.commit(branch, { [`${branch}.md`]: 'New\n' });
      const pull = { repository: repository.url, branch, base: 'main', title: branch, body: '' };
      return (await forge.openPullRequest(pull)).url.slice(fixture.platform.baseUrl.length);
    };
    const [first, second] = [await open('first'), await open('second')];
    for (const event of ['COMMENT', 'REQUEST_CHANGES', 'APPROVE']) {
      expect(await press(owner, first, `POST /pulls/:id/reviews event=${event}`, { body: 'Seen.' })).toBe(
        `..${first.slice('/pulls'.length)}`,
      );
    }
    expect(await press(owner, first, 'POST /pulls/:id/merge')).toContain(first.slice('/pulls'.length));
    expect(await press(owner, `${second}?close`, 'POST /pulls/:id/close')).toContain(second.slice('/pulls'.length));
    expect(await one(`select string_agg(state, ' ' order by number) from pull_requests`)).toBe('merged closed');
  });

  test('is one of these', async () => {
    const paths = [
      ...['/', '/ui/projects', '/ui/exports', '/ui/agents', '/ui/account'],
      ...['/ui/settings/keys', '/ui/settings/members', '/ui/settings/audit'],
    ];
    for (const path of paths) await buttons.look(owner, path);
    expect(buttons.unpressed()).toEqual(SCRIPTED);
  });
});
