import { sql } from 'drizzle-orm';
import { OPERATOR_TOKEN } from '../../helpers/platform-api.ts';
import { createKeyOnPage } from './browser.ts';
import { type DashboardFixture, PASSWORD, startDashboard } from './dashboard-fixture.ts';

const EMAIL = 'ada@example.com';
const NEW_PASSWORD = 'another correct horse';

describe('links for people who forgot the password or are invited', () => {
  let fixture: DashboardFixture;
  const mails: { to: string; subject: string; text: string }[] = [];
  let takesMail = true;

  beforeAll(async () => {
    fixture = await startDashboard({
      sendMail: async (mail) => {
        if (!takesMail) throw new Error('The mail server is away');
        mails.push(mail);
      },
    });
  });
  afterAll(() => fixture?.stop());

  const signIn = async (password: string) =>
    (await fixture.browser().post('/ui/sign-in', { to: '', email: EMAIL, password })).location;

  /** The path of the link in the newest mail. */
  const mailed = () => /https?:\/\/[^/]+(\/\S+)/.exec(mails.at(-1)?.text ?? '')?.[1] ?? '';

  async function setPassword(path: string, password: string) {
    return await fixture.browser().submit(path, '/ui/reset', { password });
  }

  it('set a new password once, and end all sessions', async () => {
    const owner = await fixture.setUp(EMAIL, 'Handbook');
    const asked = await fetch(`${fixture.platform.baseUrl}/admin/reset-links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email: EMAIL.toUpperCase() }),
    });
    const { url } = JSON.parse(await asked.text());
    expect([asked.status, url]).toEqual([201, expect.stringContaining(`${fixture.platform.baseUrl}/ui/reset?link=`)]);
    const path = url.slice(fixture.platform.baseUrl.length);
    expect((await setPassword(path, 'short')).status).toBe(400);
    const { rows } = await fixture.platform.db.execute(sql`select * from verifications`);
    expect(JSON.stringify(rows)).not.toContain(path.split('link=')[1]);
    expect((await setPassword(path, NEW_PASSWORD)).location).toBe('/ui/sign-in?reason=reset');
    expect((await fixture.browser().get(path)).status).toBe(410);
    expect((await owner.get('/')).location).toMatch(/^\/ui\/sign-in/);
    expect(await signIn(PASSWORD)).toBeNull();
    expect(await signIn(NEW_PASSWORD)).toBe('/');
  });

  it('are mailed to the person, and nobody learns who has an account', async () => {
    const forgot = (email: string) => fixture.browser().submit('/ui/forgot', '/ui/forgot', { email });
    const answers = [await forgot('nobody@example.com'), await forgot(EMAIL)];
    expect(answers.map(({ status, location }) => [status, location])).toEqual(
      Array(2).fill([303, '/ui/sign-in?reason=mailed']),
    );
    while (mails.length === 0) await new Promise(setImmediate);
    expect(mails.map(({ to }) => to)).toEqual([EMAIL]);
    expect((await setPassword(mailed(), PASSWORD)).location).toBe('/ui/sign-in?reason=reset');
    expect(await signIn(PASSWORD)).toBe('/');
  });

  it('lock no one out: floods of them take nothing from sign-ins, nor from the links that an account got', async () => {
    const forgot = async (email: string) => (await fixture.browser().post('/ui/forgot', { email })).location;
    const before = mails.length;
    for (let request = 0; request < 61; request += 1) {
      expect(await forgot(`invented${request}@example.com`)).toBe('/ui/sign-in?reason=mailed');
    }
    for (let request = 0; request < 10; request += 1) await forgot(EMAIL.toUpperCase());
    expect(await signIn(PASSWORD)).toBe('/');
    // One was mailed in the test before.
    while (mails.length < before + 4) await new Promise(setImmediate);
    const { rows } = await fixture.platform.db.execute(sql`select 1 from usage_log where scope like 'reset-mail:%'`);
    expect([mails.length, rows.length]).toEqual([before + 4, 5]);
    expect((await fixture.browser().get(mailed())).status).toBe(200);
  });

  it('invite by mail, and show the link if the mail server does not take it', async () => {
    const owner = fixture.browser();
    await owner.post('/ui/sign-in', { to: '', email: EMAIL, password: PASSWORD });
    const invite = (email: string) =>
      owner.submit('/ui/settings/members', '/ui/settings/members', { email, role: 'reviewer' });
    expect((await invite('bob@example.com')).location).toBe('/ui/settings/members?done=invited-by-mail');
    expect(mails.at(-1)?.to).toBe('bob@example.com');
    expect((await fixture.browser().get(mailed())).text).toContain('bob@example.com');
    takesMail = false;
    expect((await invite('eve@example.com')).location).toBe('/ui/settings/members?done=invited');
    expect((await owner.get('/ui/settings/members')).text).toContain('Link for eve@example.com');
  });
});

describe('an API key', () => {
  let fixture: DashboardFixture;

  beforeAll(async () => {
    fixture = await startDashboard({ trustedProxies: ['127.0.0.1'] });
  });
  afterAll(() => fixture?.stop());

  const ask = async (key: string, headers: Record<string, string> = {}) => {
    const url = `${fixture.platform.baseUrl}/v1/static-export/jobs`;
    return (await fetch(url, { headers: { ...headers, authorization: `Bearer ${key}` } })).status;
  };

  it('opens the API only from its addresses, its use is stored once a minute, and old keys still work', async () => {
    const owner = await fixture.setUp(EMAIL, 'Handbook');
    const { db } = fixture.platform;
    const create = (addresses: string) => createKeyOnPage(owner, { name: 'CI', days: '', addresses });
    const remote = await create('10.0.0.0/8, 192.0.2.1');
    expect(await ask(remote)).toBe(401);
    // Behind a trusted proxy, the address is what the proxy added last.
    expect(await ask(remote, { 'x-forwarded-for': '203.0.113.1, 10.1.2.3' })).toBe(200);
    expect(await ask(remote, { 'x-forwarded-for': '10.1.2.3, 203.0.113.1' })).toBe(401);
    const key = await create('127.0.0.0/8');
    const lastUse = async () =>
      (await db.execute(sql`select last_used_at from api_keys where prefix = ${key.slice(0, 13)}`)).rows[0];
    expect([await ask(key), await ask(key)]).toEqual([200, 200]);
    const first = await lastUse();
    expect(await ask(key)).toBe(200);
    expect(await lastUse()).toEqual(first);
    await db.execute(sql`update api_keys set last_used_at = now() - interval '61 seconds'`);
    const old = await lastUse();
    expect(await ask(key)).toBe(200);
    expect(await lastUse()).not.toEqual(old);
  });
});
