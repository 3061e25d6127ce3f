import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { createResetLink } from '../../../platform/admin/reset-links.ts';
import { accountLane, createSignInFailures } from '../../../platform/dashboard/sign-in-lanes.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../../helpers/openid-provider.ts';
import { startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { createSecurityKey, type SecurityKey } from '../../helpers/security-key.ts';
import { type Browser, createKeyOnPage, openBrowser } from './browser.ts';
import { type DashboardFixture, PASSWORD, startDashboard } from './dashboard-fixture.ts';
import { signInAt } from './openid-sign-in.ts';

const NEW_PASSWORD = 'another correct horse';
const MEMBERS = '/ui/settings/members';

/** What a developer has, and the browser in which the events happen. */
type Person = { email: string; own: Browser; other: Browser; key: SecurityKey; apiKey: string; resetLink: string };

/** The table of docs/security.md: what becomes of each credential after each event. */
function readTable(): { events: string[]; rows: { credential: string; cells: string[] }[] } {
  const page = readFileSync('docs/security.md', 'utf8');
  const [, section = ''] = page.split('## What ends a credential\n');
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  const [head = [], , ...rows] = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return {
    events: head.slice(1),
    rows: rows.map(([credential = '', ...cells]) => ({ credential, cells })),
  };
}

describe('credentials', () => {
  const waits: number[] = [];
  const wait = async (ms: number) => void waits.push(ms);
  let provider: OpenIdProvider;
  let fixture: DashboardFixture;
  /** The same platform after its operator chose another token. */
  let rekeyed: TestPlatform;
  let owner: Browser;

  beforeAll(async () => {
    provider = await startOpenIdProvider();
    const { issuer, clientId, clientSecret } = provider;
    const openId = { issuer, clientId, clientSecret };
    fixture = await startDashboard({ openId, wait });
    rekeyed = await startTestPlatform(fixture.database, { openId, wait, operatorToken: 'another-operator-token' });
    provider.allow(...[fixture.platform, rekeyed].map(({ baseUrl }) => `${baseUrl}/ui/auth/callback/openid`));
    owner = await fixture.setUp('owner@example.com', 'Handbook');
  });
  afterAll(async () => {
    await rekeyed?.stop();
    await fixture?.stop();
    await provider?.close();
  });

  const signIn = (browser: Browser, email: string, password: string) =>
    browser.post('/ui/sign-in', { to: '', email, password });
  const isIn = async (browser: Browser) => (await browser.get('/')).status === 200;

  const createApiKey = (browser: Browser) => createKeyOnPage(browser, { name: 'CI' });

  async function resetLinkFor(email: string): Promise<string> {
    const { url } = await createResetLink(fixture.platform.db, { email, publicUrl: '' });
    return url;
  }

  async function join(name: string): Promise<Person> {
    const { baseUrl } = fixture.platform;
    const email = `${name}@example.com`;
    const own = await fixture.invite(owner, email, 'developer');
    const [other, key] = [fixture.browser(), createSecurityKey(baseUrl)];
    await signIn(other, email, PASSWORD);
    expect((await key.register(own)).status).toBe(200);
    expect((await signInAt(provider, fixture.browser(), { at: baseUrl, email })).text).toContain('You are signed in');
    return { email, own, other, key, apiKey: await createApiKey(own), resetLink: await resetLinkFor(email) };
  }

  async function removalOf(email: string): Promise<string> {
    const { rows } = await fixture.platform.db.execute(sql`
      select members.id from members join users on users.id = user_id where email = ${email}`);
    return `${MEMBERS}/${String(rows[0]?.id)}/remove`;
  }

  const EVENTS: Record<string, (person: Person) => Promise<unknown>> = {
    'sign-out': ({ own }) => own.submit('/', '/ui/sign-out'),
    'sign-out everywhere': ({ own }) => own.submit('/ui/account/end-sessions', '/ui/account/end-sessions'),
    'new password': ({ own }) =>
      own.submit('/ui/account', '/ui/account/password', { current: PASSWORD, new: NEW_PASSWORD }),
    'password reset': async ({ email }) =>
      fixture.browser().submit(await resetLinkFor(email), '/ui/reset', { password: NEW_PASSWORD }),
    'removed as member': async ({ email }) => {
      const removal = await removalOf(email);
      await owner.submit(removal, removal);
    },
    'new `OPERATOR_TOKEN`': async () => undefined,
  };

  /** The browser with the same cookies at the other platform. */
  const moved = ({ cookies }: Browser, { baseUrl }: TestPlatform): Browser => {
    const browser = openBrowser(baseUrl);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    return browser;
  };

  /** Whether a credential still opens what it opened. The one whose failures count comes first. */
  const WORKS: Record<string, (person: Person, at: TestPlatform) => Promise<boolean>> = {
    'known browser': async ({ email, other }, at) => {
      const failures = createSignInFailures(at.db);
      for (let count = 0; count < 10; count += 1) await failures.add(accountLane(email, '127.0.0.0/24'));
      waits.length = 0;
      await signIn(moved(other, at), email, 'wrong');
      return waits.length === 0;
    },
    "this browser's session": ({ own }, at) => isIn(moved(own, at)),
    'other sessions': ({ other }, at) => isIn(moved(other, at)),
    password: async ({ email }, { baseUrl }) => {
      const browser = openBrowser(baseUrl);
      await signIn(browser, email, PASSWORD);
      return await isIn(browser);
    },
    passkey: async ({ key }, { baseUrl }) => {
      const browser = openBrowser(baseUrl);
      // The same key, as a browser at the other URL uses it.
      await key.signIn(browser, baseUrl);
      return await isIn(browser);
    },
    'single sign-on': async ({ email }, { baseUrl }) => {
      const browser = openBrowser(baseUrl);
      await signInAt(provider, browser, { at: baseUrl, email });
      return await isIn(browser);
    },
    'link for a new password': async ({ resetLink }, { baseUrl }) =>
      (await openBrowser(baseUrl).get(resetLink)).status === 200,
    'API key they created': async ({ apiKey }, { baseUrl }) => {
      const headers = { authorization: `Bearer ${apiKey}` };
      return (await fetch(`${baseUrl}/v1/static-export/jobs`, { headers })).status === 200;
    },
  };

  it('end exactly as the table in docs/security.md says', async () => {
    const { events, rows } = readTable();
    expect(events).toEqual(Object.keys(EVENTS));
    expect(rows.map(({ credential }) => credential).sort()).toEqual(Object.keys(WORKS).sort());
    const table = new Map(rows.map(({ credential, cells }) => [credential, cells]));
    const wrong: string[] = [];
    for (const [column, event] of events.entries()) {
      const person = await join(`person${column}`);
      for (const [credential, works] of Object.entries(WORKS)) {
        if (!(await works(person, fixture.platform))) wrong.push(`${credential} does not work before ${event}`);
      }
      await EVENTS[event]?.(person);
      const after = event.includes('OPERATOR_TOKEN') ? rekeyed : fixture.platform;
      for (const [credential, works] of Object.entries(WORKS)) {
        const cell = (await works(person, after)) ? 'stays' : 'ends';
        const said = table.get(credential)?.[column];
        // Asked for, and not chosen.
        if (said !== cell && !(said === 'asked' && cell === 'stays')) wrong.push(`${credential}, ${event}: ${cell}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('stay at a reset that keeps the passkeys', async () => {
    const person = await join('keeper');
    const page = (await fixture.browser().get(person.resetLink)).text;
    expect(page).toContain(`Keep my passkeys, added on: ${new Date().toISOString().slice(0, 10)}`);
    const fields = { password: NEW_PASSWORD, passkeys: 'keep' };
    expect((await fixture.browser().submit(person.resetLink, '/ui/reset', fields)).status).toBe(303);
    expect(await WORKS.passkey?.(person, fixture.platform)).toBe(true);
    expect((await owner.get('/ui/settings/audit')).text).toContain('kept the passkeys');
  });

  it('are not added to an account whose person did not prove who they are within ten minutes', async () => {
    const { own, email } = await join('late');
    const { db, baseUrl } = fixture.platform;
    await db.execute(sql`
      update sessions set created_at = now() - interval '10 minutes'
      where user_id = (select id from users where email = ${email})`);
    expect((await createSecurityKey(baseUrl).register(own)).status).toBe(403);
    expect((await own.get('/ui/account')).text).not.toContain('Add a passkey');
    expect((await own.submit('/ui/account', '/ui/account/prove', { password: 'wrong' })).status).toBe(400);
    expect((await createSecurityKey(baseUrl).register(own)).status).toBe(403);
    expect((await own.submit('/ui/account', '/ui/account/prove', { password: PASSWORD })).status).toBe(303);
    expect((await own.get('/ui/account')).text).toContain('Add a passkey');
    expect((await createSecurityKey(baseUrl).register(own)).status).toBe(200);
  });

  it('of a removed member are shown, and only the chosen keys are revoked', async () => {
    const { email, own, apiKey } = await join('leaver');
    const second = await createApiKey(own);
    const headers = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
    const ask = async (key: string) =>
      (await fetch(`${fixture.platform.baseUrl}/v1/static-export/jobs`, headers(key))).status;
    expect(await ask(apiKey)).toBe(200);
    const removal = await removalOf(email);
    const page = (await owner.get(removal)).text;
    expect(page).toContain(`${apiKey.slice(0, 13)}…, last used ${new Date().toISOString().slice(0, 10)}`);
    expect(page).toContain(`${second.slice(0, 13)}…, never used`);
    const label = page.slice(0, page.indexOf(`${apiKey.slice(0, 13)}…`));
    const chosen = label.match(/revoke-key_\w+/g)?.at(-1) ?? '';
    const removed = await owner.submit(removal, removal, { [chosen]: 'yes' });
    expect([removed.status, await ask(apiKey), await ask(second)]).toEqual([303, 401, 200]);
    expect((await owner.get('/ui/settings/keys')).text).toContain(email);
  });
});
