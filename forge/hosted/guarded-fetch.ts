import type { Logger } from 'pino';
import { request } from '../../base/request.ts';
import { ForgeError } from '../forge-error.ts';
import { readBounded } from '../read-bounded.ts';

/** No expected response comes near this size. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
const MAX_REDIRECTS = 3;
const STATUSES_WITHOUT_BODY = [204, 205, 304];

/**
 * `fetch` for octokit with what octokit lacks: a timeout that includes the body, a size limit, and protection of the
 * token: redirects are followed within this API, as for a renamed repository, and rejected elsewhere.
 * @throws ForgeError if there is no response (retryable) or it redirects elsewhere (not retryable).
 */
export function createGuardedFetch(options: {
  name: string;
  apiUrl: string;
  timeoutMs: number;
  logger?: Logger | undefined;
}) {
  const { name, apiUrl, timeoutMs, logger } = options;

  return async (address: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const signal = AbortSignal.timeout(timeoutMs);
    const { method = 'GET', body = null } = init;
    const headers = Object.fromEntries(new Headers(init.headers));
    const startedAtMs = Date.now();
    let url = address instanceof Request ? address.url : String(address);
    for (let redirects = 0; ; redirects += 1) {
      if (!isBelow(url, apiUrl)) {
        const away = `${name} at ${apiUrl} leads to another address, ${new URL(url).host}, and isn't followed there`;
        throw new ForgeError(`${away}: is its url right?`, { status: null, retryable: false });
      }
      const answer = await send(url, { method, headers, body: typeof body === 'string' ? body : null, signal });
      const { pathname } = new URL(url);
      logger?.debug({ method, path: pathname, status: answer.status, durationMs: Date.now() - startedAtMs }, 'forge');
      if (answer.location === undefined || redirects === MAX_REDIRECTS) return answer.response;
      url = new URL(answer.location, url).href;
    }
  };

  async function send(
    url: string,
    { signal, ...call }: { method: string; headers: Record<string, string>; body: string | null; signal: AbortSignal },
  ): Promise<{ status: number; location: string | undefined; response: Response }> {
    try {
      const { statusCode: status, headers, body } = await request(url, { ...call, signal });
      const bytes = await readBounded(body, { maxBytes: MAX_RESPONSE_BYTES, tooLong });
      const flat = Object.entries(headers).flatMap(([key, value]) => [value ?? []].flat().map((each) => [key, each]));
      const response = new Response(STATUSES_WITHOUT_BODY.includes(status) ? null : bytes, {
        status,
        headers: new Headers(flat.map(([key = '', value = '']) => [key, value])),
      });
      Object.defineProperty(response, 'url', { value: url });
      const leads = [301, 302, 307, 308].includes(status) ? headers.location : undefined;
      return { status, location: [leads].flat()[0], response };
    } catch (error) {
      const why = signal.aborted
        ? `gave no response within ${timeoutMs / 1000} s`
        : `can't be reached: ${fault(error)}`;
      throw new ForgeError(`${name} at ${apiUrl} ${why}`, { status: null, retryable: true });
    }
  }
}

function tooLong(): Error {
  return new Error(`the response is longer than ${MAX_RESPONSE_BYTES} bytes`);
}

function isBelow(url: string, apiUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const base = new URL(apiUrl);
  const { origin, pathname } = new URL(url);
  return origin === base.origin && pathname.startsWith(base.pathname === '/' ? '/' : `${base.pathname}/`);
}

function fault(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown fault';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return (error.message || (code ?? error.name)).split('\n')[0]?.slice(0, 200) ?? error.name;
}
