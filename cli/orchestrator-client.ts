import { userInfo } from 'node:os';
import { z } from 'zod';
import { errorCode } from '../base/error-code.ts';
import { createContext } from '../programs/process/context.ts';
import { OPERATOR_TOKEN_FILE, openHome } from '../programs/process/home.ts';
import { listeningUrl } from '../programs/process/serve.ts';
import { CommandError, UsageError } from './command-error.ts';
import { plain } from './output.ts';
import { Conflict, type JsonRequest, NotFound, nothingListens, requestJson } from './request-json.ts';
import { insteadOf } from './sites/configured-sites.ts';
import { type ShownSite, siteStatus } from './sites/describe-site.ts';

/** A running `galley api`, called as its operator. */
export interface Orchestrator {
  /** Resolves with the response's JSON. */
  ask: (path: string, method?: JsonRequest['method'], body?: object) => Promise<unknown>;
  /** All sites, from all pages. */
  sites: () => Promise<ShownSite[]>;
}

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
export async function openOrchestrator(options: { url?: string | undefined }): Promise<Orchestrator> {
  const { settings, home, running, base } = await locate(options);
  const token = settings.operatorToken ?? (running ? await home.readSecret(OPERATOR_TOKEN_FILE) : undefined);
  if (token === undefined) {
    if (!(await listens(new URL(base)))) throw nothingListens(new URL(base));
    throw new UsageError('OPERATOR_TOKEN: expected the token that the api was started with');
  }
  const headers = { 'x-galley-actor': userName() };
  const request = (path: string, method: JsonRequest['method'] = 'GET', body: object | undefined = undefined) =>
    requestJson({ url: new URL(path, base), token, method, body, headers, timeoutMs: TIMEOUT_MS });
  const sites = (): Promise<ShownSite[]> =>
    readAll(request).catch((error: unknown) => {
      throw error instanceof NotFound ? new CommandError(`${base} is no galley api: name its URL with --url`) : error;
    });
  return {
    sites,
    ask: (path, method, body) =>
      request(path, method, body).catch(async (error: unknown) => {
        throw (await ofSite(error, path, { sites, base })) ?? error;
      }),
  };
}

/** The path of a site, or of an action on it. */
export function sitePath(site: string, ...more: readonly string[]): string {
  return ['/sites', site, ...more].map((part, index) => (index === 0 ? part : encodeURIComponent(part))).join('/');
}

const siteList = z.object({ sites: z.array(siteStatus), nextCursor: z.string().nullish() });

async function readAll(request: Orchestrator['ask']): Promise<ShownSite[]> {
  const sites: ShownSite[] = [];
  for (let path: string | undefined = '/sites?limit=200'; path !== undefined; ) {
    const parsed: z.ZodSafeParseResult<z.infer<typeof siteList>> = siteList.safeParse(await request(path));
    if (!parsed.success) throw new CommandError('The list of sites has a format that this release can not read');
    sites.push(...parsed.data.sites);
    const { nextCursor } = parsed.data;
    const goesOn = typeof nextCursor === 'string' && parsed.data.sites.length > 0;
    path = goesOn ? `/sites?limit=200&cursor=${encodeURIComponent(nextCursor)}` : undefined;
  }
  return sites;
}

/** What to say about a site that the api doesn't have, or whose state is in the way; undefined for any other failure. */
async function ofSite(
  error: unknown,
  path: string,
  { sites, base }: Pick<Orchestrator, 'sites'> & { base: string },
): Promise<CommandError | undefined> {
  const named = /^\/sites\/([^/?]+)/.exec(path)?.[1];
  if (named === undefined) return undefined;
  const site = decodeURIComponent(named);
  if (error instanceof Conflict)
    return new CommandError(`${site}: ${plain(error.message)}. galley sites status ${site} shows its state`);
  if (!(error instanceof NotFound)) return undefined;
  const names = await sites().then(
    (all) => all.map((each) => each.site),
    () => undefined,
  );
  const where = `${plain(site)}: no such site at ${base}`;
  if (names === undefined) return new CommandError(`${where}. Is that a galley api? Name its URL with --url`);
  return names.includes(site)
    ? new CommandError(`${site}: ${error.message}. galley logs ${site} shows what happened there`)
    : new CommandError(`${where}, which has ${insteadOf(site, names)}`);
}

/** The URLs of the deployments of the running `up`, by their values files; none for an api elsewhere. */
export async function deploymentUrls({ url }: { url?: string | undefined }): Promise<ReadonlyMap<string, string>> {
  const running = url === undefined ? await openHome(createContext().settings.home).running() : undefined;
  return new Map((running?.deployments ?? []).map((each) => [each.valuesFile, each.url]));
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
