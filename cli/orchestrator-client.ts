import { userInfo } from 'node:os';
import { errorCode } from '../base/error-code.ts';
import { createContext } from '../programs/process/context.ts';
import { OPERATOR_TOKEN_FILE, openHome } from '../programs/process/home.ts';
import { listeningUrl } from '../programs/process/serve.ts';
import { UsageError } from './command-error.ts';
import { type JsonRequest, nothingListens, requestJson } from './request-json.ts';

/** Calls a running `galley api` as its operator; resolves with the response's JSON. */
export type OrchestratorClient = (path: string, method?: JsonRequest['method'], body?: object) => Promise<unknown>;

/** The api itself gives an action 45 s. */
const TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 5_000;

/** Shared help text of the commands that call the api. */
export const API_URL_OPTION = [
  '--url <url>',
  'the URL of the api (default: the running `up`, otherwise HOST and PORT)',
] as const;
export const TOKEN_HELP = '\nNeeds OPERATOR_TOKEN, except beside a running `up`, which keeps it in GALLEY_HOME.';

/** @throws UsageError without an operator token, and what `requestJson` throws. */
export async function openOrchestrator(options: { url?: string | undefined }): Promise<OrchestratorClient> {
  const { settings, home, running, base } = await locate(options);
  const token = settings.operatorToken ?? (running ? await home.readSecret(OPERATOR_TOKEN_FILE) : undefined);
  if (token === undefined) {
    if (!(await listens(new URL(base)))) throw nothingListens(new URL(base));
    throw new UsageError('OPERATOR_TOKEN: expected the token that the api was started with');
  }
  const headers = { 'x-galley-actor': userName() };
  return (path, method = 'GET', body = undefined) =>
    requestJson({ url: new URL(path, base), token, method, body, headers, timeoutMs: TIMEOUT_MS });
}

/** The URL of the option, or of the running `up`, or what HOST and PORT name. */
export async function orchestratorUrl(options: { url?: string | undefined }): Promise<string> {
  return (await locate(options)).base;
}

/**
 * The URL of a `--url` option.
 * @throws UsageError if it isn't an http(s) URL.
 */
export function parseUrlOption(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username + url.password !== '')
    throw new UsageError('--url: expected an http(s) URL without a password, such as http://127.0.0.1:3000');
  return url;
}

async function locate({ url }: { url?: string | undefined }) {
  if (url !== undefined) parseUrlOption(url);
  const { settings } = createContext();
  const home = openHome(settings.home);
  const running = await home.running();
  return { settings, home, running, base: url ?? running?.api ?? listeningUrl(settings) };
}

/** False only if the connection is refused: then a token would not help. */
async function listens(url: URL): Promise<boolean> {
  const { request } = await import('undici');
  return await request(url, { method: 'HEAD', signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ECONNREFUSED',
  );
}

/** The system's user, for the api's history of actions. Empty if it has no name, as in some containers. */
function userName(): string {
  try {
    return userInfo()
      .username.replace(/[^\x20-\x7e]/g, '?')
      .slice(0, 100);
  } catch {
    return '';
  }
}
