import { request } from '../base/request.ts';
import { parseRetryAfterMs } from '../base/retry-after.ts';
import { ForgeError } from './forge-error.ts';
import { readBounded } from './read-bounded.ts';

/** Larger than any pull request's lists. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

export type EmbeddedForgeOptions = {
  /** The platform's URL, with its path if it has one. Its links may name another, public URL. */
  url: string;
  operatorToken: string;
  /** The limit for one call including connection and response, in milliseconds; 15 s by default. */
  timeoutMs?: number;
};

/** Requests a path below a pull request's page ('' is the page itself). Throws a `ForgeError`. */
type EmbeddedForgeClient = (pullRequestUrl: string, path: string, body?: object) => Promise<unknown>;

/**
 * Requests the platform's pull request pages as JSON. Only the path of a link is used, never the host: the token goes
 * to `url` alone, which may be an internal address.
 */
export function createEmbeddedForgeClient(options: EmbeddedForgeOptions): EmbeddedForgeClient {
  const base = new URL(options.url.replace(/\/*$/, '/'));
  const timeoutMs = options.timeoutMs ?? 15_000;

  return async (pullRequestUrl, path, body) => {
    const address = addressOf(pullRequestUrl, base) + path;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const { statusCode: status, ...response } = await request(address, {
        method: body === undefined ? 'GET' : 'POST',
        signal,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${options.operatorToken}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = (await readBounded(response.body, { maxBytes: MAX_RESPONSE_BYTES, tooLong })).toString('utf8');
      if (status < 200 || status > 299) throw refusal(status, text, response.headers['retry-after']);
      return JSON.parse(text);
    } catch (error) {
      if (error instanceof ForgeError) throw error;
      throw noResponse(signal.aborted ? `there was no response within ${timeoutMs / 1000} s` : `${error}`, {
        retryable: !(error instanceof SyntaxError),
      });
    }
  };
}

/** The internal URL of a linked page. Throws a `ForgeError` if the link isn't a page of an embedded forge. */
function addressOf(pullRequestUrl: string, base: URL): string {
  const url = URL.canParse(pullRequestUrl) ? new URL(pullRequestUrl) : undefined;
  const page = /\/(pulls\/pr_[0-9a-f]{32})$/.exec(url?.pathname ?? '')?.[1];
  if (page === undefined || !/^https?:$/.test(url?.protocol ?? '')) {
    throw new ForgeError('The link is no page of an embedded forge', { status: null, retryable: false });
  }
  return new URL(page, base).href;
}

function refusal(status: number, text: string, retryAfter: string | string[] | undefined): ForgeError {
  const retryable = status >= 500 || status === 429 || status === 408;
  const retryAfterMs = (retryable && parseRetryAfterMs(retryAfter?.toString())) || null;
  return new ForgeError(`The embedded forge refuses (${status}): ${saidIn(text)}`, { status, retryable, retryAfterMs });
}

function noResponse(reason: string, { retryable }: { retryable: boolean }): ForgeError {
  return new ForgeError(`The embedded forge can't be reached: ${reason}`, { status: null, retryable });
}

function tooLong(): ForgeError {
  return noResponse('its response is too long', { retryable: false });
}

/** The message of an error response, as one line of limited length. */
function saidIn(text: string): string {
  let said = '';
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && 'error' in body) said = String(body.error);
  } catch {
    // A proxy's page isn't a message.
  }
  return said.replaceAll(/[\s\p{Cc}]+/gu, ' ').slice(0, 300) || 'no further message';
}
