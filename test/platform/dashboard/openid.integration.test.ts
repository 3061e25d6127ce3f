import { sql } from 'drizzle-orm';
import { type OpenIdProvider, startOpenIdProvider } from '../../helpers/openid-provider.ts';
import { openBrowser } from './browser.ts';
import { type DashboardFixture, startDashboard } from './dashboard-fixture.ts';
import { signInAt } from './openid-sign-in.ts';

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

  const signIn = (email: string) =>
    signInAt(provider, openBrowser(fixture.platform.baseUrl), { at: fixture.platform.baseUrl, email });

  async function users(): Promise<unknown[]> {
    const { rows } = await fixture.platform.db.execute(sql`
      select email, provider_id from users left join accounts on accounts.user_id = users.id order by 1, 2`);
    return rows.map(({ email, provider_id: by }) => `${email} ${by}`);
  }

  it('rejects an email that the provider calls unverified, links no account and accepts no invitation', async () => {
    for (const [said, email, reason] of [
      [false, OWNER, 'your single sign-on does not say that the email is verified'],
      [false, 'false@example.com', 'Your single sign-on says that your email is not verified'],
      ['false', 'text@example.com', 'Your single sign-on says that your email is not verified'],
    ] as const) {
      isVerified = said;
      expect((await signIn(email)).text).toContain(reason);
    }
    expect(await users()).toEqual([`${OWNER} credential`]);
  });

  it('links no account without the word of the provider that the email is verified', async () => {
    isVerified = undefined;
    expect((await signIn(OWNER)).text).toContain('does not say that the email is verified');
    expect(await users()).toEqual([`${OWNER} credential`]);
    isVerified = 'true';
    expect((await signIn(OWNER)).text).toContain('You are signed in');
    expect(await users()).toEqual([`${OWNER} credential`, `${OWNER} openid`]);
  });

  it('creates an account for an invited email of which the provider says nothing, and signs in to it again', async () => {
    isVerified = undefined;
    for (let time = 0; time < 2; time += 1) {
      for (const email of ['omitted@example.com', OWNER])
        expect((await signIn(email)).text).toContain('You are signed in');
    }
    expect(await users()).toEqual([`${OWNER} credential`, `${OWNER} openid`, 'omitted@example.com openid']);
  });
});
