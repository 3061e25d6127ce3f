import type { AdminApiClient, RequestOptions } from '../client/admin-api-client.ts';
import { AdminApiError } from '../client/admin-api-error.ts';
import { createContext } from '../programs/process/context.ts';
import { ADMIN_KEY_FILE, openHome } from '../programs/process/home.ts';
import { CommandError, UsageError } from './command-error.ts';
import { printJson } from './output.ts';

/** A person waits for the command, so it reports a failure soon. */
const QUICK_RETRY = { attempts: 2, longestDelayMs: 5_000 };
const TIMEOUT_MS = 20_000;

/** Shared help text of the commands that call the Admin API. */
export const KEY_HELP =
  '\nNeeds ADMIN_API_URL and ADMIN_API_KEY, except beside a running `up`, which keeps its key in GALLEY_HOME.';

/**
 * Sends a command's request. Prints the response as the service sent it with `--json`, otherwise by `print`.
 * @throws UsageError without a URL or a key, and AdminApiError
 */
export async function showResponse<Result>(
  { json }: { json?: boolean },
  request: (client: AdminApiClient, options: RequestOptions) => Promise<Result>,
  print: (result: Result) => void,
): Promise<void> {
  const { url, client } = await openAdminApi();
  let body: unknown;
  const onResponse: RequestOptions['onResponse'] = (response) => {
    body = response.body;
  };
  const result = await request(client, { onResponse }).catch((error: unknown) => {
    if (!(error instanceof AdminApiError) || error.status !== null) throw error;
    throw new CommandError(`${url} can't be reached: ${error.reason}`);
  });
  if (json) printJson(body);
  else print(result);
}

async function openAdminApi(): Promise<{ url: string; client: AdminApiClient }> {
  const { settings } = createContext({ quiet: true });
  const home = openHome(settings.home);
  const own = settings.adminApiUrl === undefined ? await home.running() : undefined;
  const url = settings.adminApiUrl ?? own?.platform;
  if (url === undefined || url === null)
    throw new UsageError('ADMIN_API_URL: expected the URL of the Admin API, or a running `galley up` on GALLEY_HOME');
  const key = settings.adminApiKey ?? (own ? await home.readSecret(ADMIN_KEY_FILE) : undefined);
  if (key === undefined) throw new UsageError(`ADMIN_API_KEY: expected the key for ${url}`);
  // Loaded here, because it loads undici, and most commands make no request.
  const { createAdminApiClient } = await import('../client/admin-api-client.ts');
  return { url, client: createAdminApiClient({ url, key, timeoutMs: TIMEOUT_MS, retry: QUICK_RETRY }) };
}
