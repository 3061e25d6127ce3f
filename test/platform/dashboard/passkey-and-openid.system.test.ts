import type { Browser, Page } from 'playwright-core';
import { addAuthenticator, launchChromium, openPage, problemsOf } from '../../helpers/chromium.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../../helpers/openid-provider.ts';
import { type DashboardFixture, PASSWORD, startDashboard } from './dashboard-fixture.ts';

const OWNER = 'ada@example.com';

describe('people who join and sign in', () => {
  let provider: OpenIdProvider;
  let fixture: DashboardFixture;
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    provider = await startOpenIdProvider();
    const { issuer, clientId, clientSecret } = provider;
    // Passkeys need a name, not an address. To the provider, the dashboard is another site then.
    const publicUrl = () => fixture.platform.baseUrl.replace('127.0.0.1', 'localhost');
    fixture = await startDashboard({ openId: { issuer, clientId, clientSecret }, publicUrl });
    await fixture.setUp(OWNER, 'Handbook');
    url = publicUrl();
    provider.allow(`${url}/ui/auth/callback/openid`);
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    await fixture?.stop();
    await provider?.close();
  });

  async function signIn(page: Page, email: string, path = '/'): Promise<void> {
    await page.goto(url + path);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(url + path);
  }

  const signOut = async (page: Page) => {
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('You are signed out.').waitFor();
  };

  /** Invites as the owner, and returns the link to copy. */
  async function invite(page: Page, email: string, role: string): Promise<string> {
    await page.goto(`${url}/ui/settings/members`);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Role', { exact: true }).selectOption(role);
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = page.getByLabel(`Link for ${email} (${role})`, { exact: true });
    return await link.inputValue();
  }

  /** Fills in the pages of the provider. */
  async function enter(page: Page, login: string): Promise<void> {
    await page.getByPlaceholder('Enter any login').fill(login);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
  }

  it('registers a passkey, signs in with it, and removes it', async () => {
    const { page, errors } = await openPage(browser);
    await signIn(page, OWNER, '/ui/account');
    await addAuthenticator(page);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const remove = page.getByRole('listitem').getByRole('link', { name: /^Remove/ });
    await remove.waitFor();
    expect(await problemsOf(page, 'account-passkey')).toEqual([]);
    await signOut(page);
    await page.goto(`${url}/ui/settings/members`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL(`${url}/ui/settings/members`);
    await page.getByRole('heading', { name: 'Members' }).waitFor();
    await page.goto(`${url}/ui/account`);
    await remove.click();
    await page.getByRole('button', { name: 'Remove the passkey' }).click();
    await page.getByText('The passkey was removed.').waitFor();
    await signOut(page);
    expect(errors).toEqual([]);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.locator('#passkey-error', { hasText: /\w/ }).waitFor();
    await page.context().close();
  });

  it('joins by an invitation, and the owner changes the role, removes the person and invites again', async () => {
    const email = 'bob@example.com';
    const [{ page: owner }, { page: bob }] = [await openPage(browser), await openPage(browser)];
    await signIn(owner, OWNER);
    await bob.goto(await invite(owner, email, 'developer'));
    expect(await problemsOf(bob, 'invitation')).toEqual([]);
    expect(await problemsOf(owner, 'members')).toEqual([]);
    await bob.getByLabel('Your name').fill('Bob');
    await bob.getByLabel('Password').fill(PASSWORD);
    await bob.getByRole('button', { name: 'Create the account and join' }).click();
    await bob.getByText('Your role: developer').waitFor();
    await bob.goto(`${url}/ui/settings/keys`);
    await bob.getByRole('button', { name: 'Create key' }).waitFor();

    await owner.reload();
    await owner.getByLabel(`Role of ${email}`, { exact: true }).selectOption('reviewer');
    await owner.getByRole('button', { name: `Change the role of ${email}` }).click();
    await owner.getByText('The role was changed.').waitFor();
    await bob.reload();
    await bob.getByText('This needs the role owner or developer').waitFor();
    expect(await problemsOf(bob, 'not-allowed')).toEqual([]);

    await owner.getByRole('link', { name: `Remove ${email}` }).click();
    expect(await problemsOf(owner, 'remove-member')).toEqual([]);
    await owner.getByRole('button', { name: 'Remove the member' }).click();
    await owner.getByText('The member was removed').waitFor();
    await bob.goto(url);
    await bob.getByText('You are in no organization').waitFor();
    await invite(owner, email, 'developer');
    await bob.goto(url);
    await bob.getByRole('button', { name: 'Accept' }).click();
    await bob.getByText('Your role: developer').waitFor();

    await invite(owner, 'eve@example.com', 'reviewer');
    await owner.getByRole('link', { name: 'Cancel the invitation of eve@example.com' }).click();
    await owner.getByRole('button', { name: 'Cancel the invitation' }).click();
    await owner.getByText('The invitation was canceled.').waitFor();
    for (const page of [owner, bob]) await page.context().close();
  });

  it('signs in by OpenID Connect only with an invitation', async () => {
    const email = 'carol@example.com';
    const [{ page: owner }, { page: carol, errors }] = [await openPage(browser), await openPage(browser)];
    await signIn(owner, OWNER);
    await carol.goto(`${url}/ui/exports`);
    await carol.getByRole('link', { name: 'Sign in with single sign-on' }).click();
    await enter(carol, email);
    await carol.getByText('or you have no invitation').waitFor();

    await invite(owner, email, 'reviewer');
    await carol.getByRole('link', { name: 'Sign in with single sign-on' }).click();
    await carol.getByRole('button', { name: 'Accept' }).click();
    await carol.getByText('Your role: reviewer').waitFor();
    await signOut(carol);
    await carol.goto(`${url}/ui/exports`);
    await carol.getByRole('link', { name: 'Sign in with single sign-on' }).click();
    await carol.waitForURL(`${url}/ui/exports`);
    const name = await carol.getByRole('link', { name: `${email} at the provider` }).textContent();
    expect(name).toHaveLength(100);
    // The provider's own page loads fonts that aren't there.
    expect(errors.filter((error) => !error.startsWith('Failed to load resource'))).toEqual([]);

    // Someone with a password may use both.
    await signOut(owner);
    await owner.getByRole('link', { name: 'Sign in with single sign-on' }).click();
    await enter(owner, OWNER);
    await owner.getByText('Your role: owner').waitFor();
    for (const page of [owner, carol]) await page.context().close();
  });
});
