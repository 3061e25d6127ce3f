import { sql } from 'drizzle-orm';
import { startTestPlatform } from '../../helpers/platform-api.ts';
import { type Browser, createKeyOnPage, openBrowser } from './browser.ts';
import { type DashboardFixture, PASSWORD, startDashboard } from './dashboard-fixture.ts';

describe('the dashboard', () => {
  let fixture: DashboardFixture;
  let owner: Browser;
  const email = 'ada@example.com';
  /** How long each wrong password was held up. */
  const waits: number[] = [];

  beforeAll(async () => {
    fixture = await startDashboard({ wait: async (ms) => void waits.push(ms) });
    owner = await fixture.setUp(email, 'Handbook');
  });
  afterAll(() => fixture?.stop());

  const signIn = (browser: Browser, fields: Record<string, string>, headers = {}) =>
    browser.post('/ui/sign-in', { to: '', ...fields }, headers);

  it('leads to the sign-in, and from there to the page that was asked for', async () => {
    const browser = fixture.browser();
    expect((await browser.get('/ui/exports?status=failed')).location).toBe(
      '/ui/sign-in?to=%2Fui%2Fexports%3Fstatus%3Dfailed',
    );
    expect((await browser.get('/')).location).toBe('/ui/sign-in?to=%2F');
    const shown = await signIn(browser, { to: '/ui/exports?status=failed', email, password: PASSWORD });
    expect([shown.status, shown.location]).toEqual([303, '/ui/exports?status=failed']);
    const elsewhere = await signIn(fixture.browser(), { to: '//evil.example', email, password: PASSWORD });
    expect(elsewhere.location).toBe('/');
  });

  it('shows every page to its owner, each below 100 kB and without an inline script', async () => {
    const paths = ['', 'ui/projects', 'ui/exports', 'ui/agents', 'ui/settings/keys', 'ui/settings/members'];
    for (const path of [...paths, 'ui/settings/audit', 'ui/account']) {
      const { status, text, headers } = await owner.get(`/${path}`);
      expect([path, status]).toEqual([path, 200]);
      expect(text.length).toBeLessThan(100_000);
      expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  it('lets nobody sign up without an invitation, nor use the first link twice', async () => {
    const answer = await fetch(`${fixture.platform.baseUrl}/ui/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Eve', email: 'eve@example.com', password: PASSWORD }),
      redirect: 'manual',
    });
    expect(answer.status).toBe(303);
    const { rows } = await fixture.platform.db.execute(sql`select email from users`);
    expect(rows).toEqual([{ email }]);
    expect((await fixture.browser().get('/ui/setup?link=used')).status).toBe(410);
  });

  const wrong = { email, password: 'wrong wrong wrong' };

  it('slows wrong passwords of one account, and locks no one out', async () => {
    const eve = fixture.browser();
    for (let attempt = 0; attempt < 12; attempt += 1) expect((await signIn(eve, wrong)).status).toBe(401);
    expect(waits.splice(0)).toEqual([250, 250]);
    const { rows } = await fixture.platform.db.execute(
      sql`select distinct scope from usage_log where scope like 'sign-in%'`,
    );
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('example.com');
    // From the same address, in a browser that is not known.
    expect((await signIn(fixture.browser(), { email, password: PASSWORD })).status).toBe(303);
    expect(waits).toEqual([]);
  });

  it('does not slow a browser that has signed in to the account before', async () => {
    const [eve, known] = [fixture.browser(), fixture.browser()];
    await signIn(known, { email, password: PASSWORD });
    await known.submit('/', '/ui/sign-out');
    for (let attempt = 0; attempt < 11; attempt += 1) await signIn(eve, wrong);
    expect(waits.splice(0)).toEqual([250]);
    expect((await signIn(known, wrong)).status).toBe(401);
    expect(waits).toEqual([]);
    // The cookie counts for its account only, and can't be made up.
    const device = known.cookies.get('galley_device') ?? '';
    eve.cookies.set(
      'galley_device',
      device.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
    );
    await signIn(eve, wrong);
    expect(waits.splice(0)).toEqual([250]);
    for (let attempt = 0; attempt < 11; attempt += 1) {
      await signIn(known, { ...wrong, email: 'bob@example.com' });
    }
    expect(waits.splice(0)).toEqual([250]);
    expect((await signIn(known, { email, password: PASSWORD })).status).toBe(303);
  });

  it('has only cookies over HTTPS that no other host can set', async () => {
    const publicUrl = 'https://platform.example.com';
    const secure = await startTestPlatform(fixture.database, { publicUrl });
    const browser = openBrowser(secure.baseUrl);
    const set = (await signIn(browser, { email, password: PASSWORD })).headers.getSetCookie();
    await browser.get('/ui/auth/passkey/generate-authenticate-options');
    const names = [...browser.cookies.keys()];
    expect([names.length, names.filter((name) => !name.startsWith('__Host-'))]).toEqual([3, []]);
    for (const cookie of set) expect(cookie).toMatch(/; Path=\/;(?!.*Domain).*HttpOnly; Secure; SameSite=Strict/);
    expect((await browser.get('/')).status).toBe(200);
    for (const [name, value] of browser.cookies) browser.cookies.set(name.replace('__Host-', ''), value);
    for (const name of names) browser.cookies.delete(name);
    expect((await browser.get('/')).status).toBe(303);
    await secure.stop();
  });

  it('rejects forms of other sites and without the CSRF token', async () => {
    const foreign = await signIn(fixture.browser(), { email, password: PASSWORD }, { origin: 'https://evil.example' });
    expect(foreign.status).toBe(403);
    expect((await owner.post('/ui/settings/keys', { name: 'x', csrf: 'wrong' })).status).toBe(403);
  });

  it('signs out everywhere', async () => {
    const [one, other] = [fixture.browser(), fixture.browser()];
    for (const browser of [one, other]) await signIn(browser, { email, password: PASSWORD });
    const kept = new Map(other.cookies);
    const done = await one.submit('/ui/account/end-sessions', '/ui/account/end-sessions');
    expect(done.location).toBe('/ui/sign-in?reason=everywhere');
    expect([...other.cookies]).toEqual([...kept]);
    for (const browser of [one, other, owner]) expect((await browser.get('/')).status).toBe(303);
    await signIn(owner, { email, password: PASSWORD });
    expect((await owner.get('/')).status).toBe(200);
  });

  it('shows a new key once, which opens the API until it is revoked', async () => {
    const key = await createKeyOnPage(owner, { name: 'CI', days: '', addresses: '' });
    const ask = () =>
      fetch(`${fixture.platform.baseUrl}/v1/static-export/jobs`, { headers: { authorization: `Bearer ${key}` } });
    expect((await ask()).status).toBe(200);
    const list = (await owner.get('/ui/settings/keys')).text;
    expect(list).not.toContain(key);
    expect(list).toContain(key.slice(0, 13));
    const revoke = /\/ui\/settings\/keys\/(key_\w+)\/revoke/.exec(list)?.[0] ?? '';
    await owner.submit(revoke, revoke);
    expect((await ask()).status).toBe(401);
    const audit = (await owner.get('/ui/settings/audit')).text;
    for (const told of ['Created a key', 'Revoked a key', 'Signed in', 'ada@example.com'])
      expect(audit).toContain(told);
  });
});
