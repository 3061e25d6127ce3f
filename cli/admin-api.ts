import { UsageError } from './command-error.ts';
import { createContext } from './context.ts';
import { openHome } from './home.ts';
import { type JsonRequest, requestJson } from './request-json.ts';
import { ADMIN_KEY_FILE } from './up/first-organization.ts';

/** Calls the Admin API as a customer; resolves with the response's JSON. */
export type AdminApiClient = (path: string, method?: JsonRequest['method'], body?: object) => Promise<unknown>;

/** Shared help text of the commands that call the Admin API. */
export const KEY_HELP =
  '\nNeeds ADMIN_API_URL and ADMIN_API_KEY, except beside a running `up`, which keeps its key in GALLEY_HOME.';

/** @throws UsageError without a URL or a key, and what `requestJson` throws. */
export async function openAdminApi(): Promise<AdminApiClient> {
  const { settings } = createContext({ quiet: true });
  const home = openHome(settings.home);
  const own = settings.adminApiUrl === undefined ? await home.running() : undefined;
  const url = settings.adminApiUrl ?? own?.platform;
  if (url === undefined || url === null)
    throw new UsageError('ADMIN_API_URL: expected the URL of the Admin API, or a running `galley up` on GALLEY_HOME');
  const token = settings.adminApiKey ?? (own ? await home.readSecret(ADMIN_KEY_FILE) : undefined);
  if (token === undefined) throw new UsageError(`ADMIN_API_KEY: expected the key for ${url}`);
  return (path, method = 'GET', body = undefined) =>
    requestJson({ url: new URL(`${url.replace(/\/+$/, '')}${path}`), token, method, body });
}
