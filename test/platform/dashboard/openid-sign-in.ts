import type { OpenIdProvider } from '../../helpers/openid-provider.ts';
import { type Browser, formsOf, openBrowser, type Shown } from './browser.ts';

/** Signs in to the dashboard `at` a URL by the provider's pages, and returns the dashboard's page at the end. */
export async function signInAt(
  { issuer }: OpenIdProvider,
  browser: Browser,
  { at, email }: { at: string; email: string },
): Promise<Shown> {
  const sites = { [at]: browser, [issuer]: openBrowser(issuer) };
  let url = new URL(`${at}/ui/sign-in/openid?to=/`);
  for (let step = 0; step < 20; step += 1) {
    const site = sites[url.origin];
    let shown = await site?.get(url.pathname + url.search);
    const form = url.origin === issuer ? formsOf(shown?.text ?? '')[0] : undefined;
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
