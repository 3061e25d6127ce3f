import { userInfo } from 'node:os';
import { UsageError } from './command-error.ts';
import { createContext } from './context.ts';
import { OPERATOR_TOKEN_FILE, openHome } from './home.ts';
import { type JsonRequest, requestJson } from './request-json.ts';

/** Calls a running `galley api` as its operator; resolves with the response's JSON. */
export type OrchestratorClient = (path: string, method?: JsonRequest['method'], body?: object) => Promise<unknown>;

/** The api itself gives an action 45 s. */
const TIMEOUT_MS = 60_000;

/** Shared help text of the commands that call the api. */
export const API_URL_OPTION = [
  '--url <url>',
  'the URL of the api (default: the running `up`, otherwise HOST and PORT)',
] as const;
export const TOKEN_HELP = '\nNeeds OPERATOR_TOKEN, except beside a running `up`, which keeps it in GALLEY_HOME.';

/** @throws UsageError without an operator token, and what `requestJson` throws. */
export async function openOrchestrator({ url }: { url?: string | undefined }): Promise<OrchestratorClient> {
  const { settings } = createContext();
  const home = openHome(settings.home);
  const running = await home.running();
  const token = settings.operatorToken ?? (running ? await home.readSecret(OPERATOR_TOKEN_FILE) : undefined);
  if (token === undefined) throw new UsageError('OPERATOR_TOKEN: expected the token that the api was started with');
  const base = url ?? running?.api ?? `http://${settings.host}:${settings.port}`;
  const headers = { 'x-galley-actor': userName() };
  return (path, method = 'GET', body = undefined) =>
    requestJson({ url: new URL(path, base), token, method, body, headers, timeoutMs: TIMEOUT_MS });
}

/** Of the operating system, for the api's history of actions. Empty if the user has no name, as in some containers. */
function userName(): string {
  try {
    return userInfo()
      .username.replace(/[^\x20-\x7e]/g, '?')
      .slice(0, 100);
  } catch {
    return '';
  }
}
