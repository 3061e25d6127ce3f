import { sql } from 'drizzle-orm';
import { type OpenIdProvider, startOpenIdProvider } from '../../helpers/openid-provider.ts';
import { formsOf, openBrowser, type Shown } from './browser.ts';
import { type DashboardFixture, startDashboard } from './dashboard-fixture.ts';

const OWNER = 'ada@example.com';
const MEMBERS = '/ui/settings/members';

describe('single sign-on', () => {
  let provider: OpenIdProvider;
  let fixture: DashboardFixture;
  /** What the provider says of every email. */
  let isVerified: boolean | string | undefined;

  beforeAll(async () => {
    provider = await startOpenIdProvider(() => isVerified);
    const { issuer, clientId, clientSecret } = provider;
    fixture = await startDashboard({ openId: { issuer, clientId, clientSecret } });
    const { baseUrl } = fixture.platform;
    provider.allow(`${baseUrl}/ui/auth/callback/openid`);
    const owner = await fixture.setUp(OWNER, 'Handbook');
    for (const name of ['false', 'text', 'omitted']) {
      const invited = await owner.submit(MEMBERS, MEMBERS, { email: `${name}@example.com`, role: 'reviewer' });
      expect(invited.status).toBe(303);
    }
  });
  afterAll(async () => {
    await fixture?.stop();
    await provider?.close();
  });

  /** Signs in at the provider's pages, and returns the dashboard's page at the end. */
  async function signIn(email: string): Promise<Shown> {
    const { baseUrl } = fixture.platform;
    const sites = { [baseUrl]: fixture.browser(), [provider.issuer]: openBrowser(provider.issuer) };
    let url = new URL(`${baseUrl}/ui/sign-in/openid?to=/`);
    for (let step = 0; step < 20; step += 1) {
      const site = sites[url.origin];
      let shown = await site?.get(url.pathname + url.search);
      const form = url.origin === provider.issuer ? formsOf(shown?.text ?? '')[0] : undefined;
      if (form !== undefined) {
        const { pathname } = new URL(form.action, url);
        shown = await site?.post(pathname, { ...form.hidden, login: email, password: 'any' });
      }
      if (shown === undefined) throw new Error(`The sign-in led to ${url.href}`);
      if (shown.location === null) return shown;
      url = new URL(shown.location, url);
    }
    throw new Error(`The sign-in does not end: ${url.href}`);
  }

  async function users(): Promise<unknown[]> {
    const { rows } = await fixture.platform.db.execute(sql`
      select email, provider_id from users left join accounts on accounts.user_id = users.id order by 1, 2`);
    return rows.map(({ email, provider_id: by }) => `${email} ${by}`);
  }

  it('rejects an email that the provider calls unverified, links no account and accepts no invitation', async () => {
    for (const [said, email] of [
      [false, OWNER],
      [false, 'false@example.com'],
      ['false', 'text@example.com'],
    ] as const) {
      isVerified = said;
      const { text } = await signIn(email);
      expect(text).toContain('Your single sign-on says that your email is not verified');
    }
    expect(await users()).toEqual([`${OWNER} credential`]);
  });

  it('accepts a verified email, and one of which the provider says nothing', async () => {
    for (const [said, email] of [
      [true, OWNER],
      [undefined, 'omitted@example.com'],
    ] as const) {
      isVerified = said;
      expect((await signIn(email)).text).toContain('You are signed in');
    }
    expect(await users()).toEqual([`${OWNER} credential`, `${OWNER} openid`, 'omitted@example.com openid']);
  });
});
