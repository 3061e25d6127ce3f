import { request } from '../../base/request.ts';
import { parseRetryAfterMs } from '../../base/retry-after.ts';
import { BundleUnavailableError, reason } from '../errors.ts';
import { linkLabel } from './link.ts';

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Statuses that a retry with the same link may fix. */
const PASSING: ReadonlySet<number> = new Set([408, 421, 425, 429]);

/** The longest silence of a server, before and within its response. */
const SILENCE_MS = 30_000;

export type BundleResponse = {
  status: number;
  header(name: string): string | undefined;
  body: AsyncIterable<Buffer> & { dump(): Promise<void>; destroy(): unknown };
};

/**
 * Requests the link and follows redirects: at most five, only to http(s), never from https to http, and with the link's
 * own credentials (`https://user:password@…`) only for their host.
 * @returns the response if it is 200, 206, 304 or 416
 * @throws BundleUnavailableError for any other response and if there is none
 */
export async function openHttp(
  link: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<BundleResponse> {
  let url = link;
  for (let hop = 0; ; hop += 1) {
    const response = await ask(url, headers, signal);
    if (!REDIRECTS.has(response.status)) return accepted(response, url);
    await response.body.dump();
    if (hop === MAX_REDIRECTS) throw new BundleUnavailableError(`${linkLabel(link)} redirects in circles`, 'slowly');
    url = redirectTarget(url, response.header('location'));
  }
}

async function ask(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<BundleResponse> {
  try {
    const {
      statusCode,
      headers: received,
      body,
    } = await request(withoutCredentials(url).href, {
      headers: { ...headers, ...basicAuthorization(url), 'accept-encoding': 'identity' },
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
      signal,
    });
    const header = (name: string): string | undefined => {
      const value = received[name];
      return Array.isArray(value) ? value[0] : value;
    };
    return { status: statusCode, header, body };
  } catch (error) {
    throw new BundleUnavailableError(`${linkLabel(url)} can't be reached (${reason(error)})`, 'soon');
  }
}

function accepted(response: BundleResponse, url: URL): BundleResponse {
  const { status, body } = response;
  if (status === 200 || status === 206 || status === 304 || status === 416) return response;
  // Read to the end in the background to free the connection; its content is ignored.
  body.dump().catch(() => undefined);
  const where = `${linkLabel(url)} answered ${status}`;
  if (status >= 500 || PASSING.has(status)) {
    throw new BundleUnavailableError(where, 'soon', status, parseRetryAfterMs(response.header('retry-after')));
  }
  const meaning = [401, 403, 404, 410].includes(status) ? ': the link has expired or is refused' : '';
  throw new BundleUnavailableError(`${where}${meaning}`, 'slowly', status);
}

function redirectTarget(from: URL, location: string | undefined): URL {
  const target = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  const allowed = from.protocol === 'https:' ? ['https:'] : ['http:', 'https:'];
  if (target === undefined || !allowed.includes(target.protocol)) {
    throw new BundleUnavailableError(`${linkLabel(from)} redirects to where a bundle can't be fetched from`, 'slowly');
  }
  return target;
}

function withoutCredentials(url: URL): URL {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return bare;
}

function basicAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}
