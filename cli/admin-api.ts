import type { AdminApiClient, RequestOptions } from '../client/admin-api-client.ts';
import { AdminApiError } from '../client/admin-api-error.ts';
import { jobWord } from '../contract/admin-api.ts';
import { createContext } from '../programs/process/context.ts';
import { ADMIN_KEY_FILE, openHome } from '../programs/process/home.ts';
import { adminApiFailure } from './admin-api-failure.ts';
import { CommandError, UsageError } from './command-error.ts';
import { explainSilence } from './explain-silence.ts';
import { poll } from './follow/poll.ts';
import { createScreen } from './follow/screen.ts';
import { plain, printJson } from './output.ts';

/** A person waits for the command, so it reports a failure soon. */
const QUICK_RETRY = { attempts: 2, longestDelayMs: 5_000 };
const TIMEOUT_MS = 20_000;

/** Shared help text of the commands that call the Admin API. */
export const KEY_HELP =
  '\nNeeds ADMIN_API_URL and ADMIN_API_KEY, except beside a running `up`, which keeps its key in GALLEY_HOME.';

interface Shown<Result> {
  request: (client: AdminApiClient, options: RequestOptions) => Promise<Result>;
  print: (result: Result) => void;
  /** What to say if the service has no such thing. */
  missing?: string;
  /** Asks again until the job has ended, and says meanwhile what it does. */
  follow?: {
    isEnded: (result: Result) => boolean;
    describe: (result: Result) => string;
    failureOf: (result: Result) => string | undefined;
  };
}

/**
 * Sends a command's request. Prints the response as the service sent it with `--json`, otherwise by `print`.
 * @throws UsageError without a URL or a key, and CommandError with the reason of the service
 */
export async function showResponse<Result>({ json }: { json?: boolean }, shown: Shown<Result>): Promise<void> {
  const { request, print, follow, missing } = shown;
  const { url, client } = await openAdminApi();
  let body: unknown;
  const onResponse: RequestOptions['onResponse'] = (response) => {
    body = response.body;
  };
  const read = (): Promise<Result> =>
    explainSilence(`Waiting for the Admin API at ${url}`, request(client, { onResponse })).catch((error: unknown) => {
      throw error instanceof AdminApiError ? adminApiFailure(error, url, missing) : error;
    });
  const result = follow === undefined ? await read() : await followJob(read, follow, json === true);
  if (json) printJson(body);
  else print(result);
  const failure = follow?.failureOf(result);
  if (failure !== undefined) throw new CommandError(failure);
}

async function followJob<Result>(
  read: () => Promise<Result>,
  { isEnded, describe }: NonNullable<Shown<Result>['follow']>,
  silent: boolean,
): Promise<Result> {
  const screen = createScreen({ silent });
  const look = (result: Result): { result: Result } | undefined => {
    if (isEnded(result)) return { result };
    screen.status(describe(result));
    return undefined;
  };
  const goesOn = 'The job goes on without this command';
  return (await poll(read, look, goesOn).finally(() => screen.end())).result;
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

type EndedJob = { status: string; error: string | null };

/** Null also for a canceled job: its word says all. */
export function errorOf(job: EndedJob): string | null {
  return jobWord(job) === 'canceled' ? null : job.error;
}

/** How a job without a result ended. */
export function howItEnded(job: EndedJob): string {
  return jobWord(job) === 'canceled' ? 'was canceled' : `failed: ${plain(job.error ?? 'no reason is known')}`;
}
