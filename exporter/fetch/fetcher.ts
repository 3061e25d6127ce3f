import type { Dispatcher } from 'undici';
import { parseRetryAfterMs } from '../../base/retry-after.ts';
import { escapeBytes } from '../../bundle/url.ts';
import { elementsOfHeaders } from '../document/header-elements.ts';
import type { Fetcher, FetchOptions, FetchResult } from '../ports.ts';
import type { ExportSettings } from '../settings.ts';
import { headerForbidsFollowing } from '../urls/robots.ts';
import type { AddressGuard } from './address-guard.ts';
import { type Clock, systemClock } from './clock.ts';
import { ACCEPT_ENCODING, type Coding, readContentEncoding, UnreadableBody } from './content-coding.ts';
import { contentTypeOf, isAttachment } from './content-type.ts';
import { isCausedBy } from './error-code.ts';
import { beginExchange, createPinnedAgent, type Exchange, type OriginResponse } from './exchange.ts';
import {
  conditionalHeaders,
  failureOfBody,
  failureOfError,
  failureOfLateness,
  failureOfStatus,
  type Headers,
  isOverload,
  linesOf,
  readValidators,
} from './fetch-result.ts';
import { abortWhenLate, latenessOfBody, latenessOfHead, type ResponsePace } from './late-response.ts';
import type { OriginLimiter, RequestOutcome } from './origin-limiter.ts';
import { peek } from './peek.ts';
import { type BodyLimits, readResponseBody } from './read-body.ts';
import type { ResponseBody } from './response-body.ts';

/** Creates a fetcher that may reach this site's origin; close it. */
export type FetcherFor = (site: Pick<ExportSettings, 'operatorHosts'>) => Fetcher;

type FetcherLimits = BodyLimits &
  ResponsePace & {
    maxConnectionsPerOrigin: number;
    userAgent: string;
  };

const NOT_MODIFIED = 304;
/** The reason for ending an exchange early; one shared error, because each new one would capture a stack. */
const ENOUGH = new Error('enough of the response was read');
const CANCELLED = new Error('the request was canceled');
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Compression between processes of one machine costs both sides time and saves nothing. */
function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

const ENCODINGS = ['accept-encoding', ACCEPT_ENCODING];
const NO_ENCODING = ['accept-encoding', 'identity'];

/** Files that are compressed themselves, whatever the headers say: they are kept as `curl -O` saves them. */
const COMPRESSED_NAME = /\.(?:gz|tgz|taz|br|zst|tzst)$/i;
/** Types that a browser reads itself, so it decodes the body. */
const READ_BY_BROWSERS = /^\s*(?:text\/(?:html|css|javascript)|application\/(?:xhtml\+xml|(?:x-)?javascript|wasm))\b/i;

/** What one fetcher's requests share. */
type Context = { agent: Dispatcher; limits: FetcherLimits; clock: Clock; exchangesOf: ExchangesOf };

/** Fetches over kept-alive connections that only the guard opens, within the limiter's concurrency. */
export function createFetcher(options: {
  guard: AddressGuard;
  limiter: OriginLimiter;
  limits: FetcherLimits;
  clock?: Clock;
}): Fetcher {
  const { guard, limiter, limits, clock = systemClock } = options;
  const agent = createPinnedAgent({ guard, maxConnectionsPerOrigin: limits.maxConnectionsPerOrigin });
  const context: Context = { agent, limits, clock, exchangesOf: createExchangesOf() };
  const spacings = new Map<string, number>();

  return {
    async get(url, request) {
      // Each access builds the text again.
      const { origin } = url;
      let release: (outcome: RequestOutcome) => void;
      try {
        guard.checkUrl(url);
        release = await limiter.acquire(origin, request.signal, spacings.get(origin));
      } catch (error) {
        request.signal.throwIfAborted();
        return failureOfError(error);
      }
      let outcome: RequestOutcome = { kind: 'none' };
      try {
        // It may have fired since the slot was given, and calls no listener that is added later.
        request.signal.throwIfAborted();
        const response = await getOnce(context, { url, origin }, request);
        outcome = outcomeOf(response);
        const { result } = response;
        if (outcome.kind === 'overloaded' && result.kind === 'failed' && result.retryAfterMs !== undefined) {
          limiter.pause(origin, result.retryAfterMs);
        }
        return result;
      } finally {
        release(outcome);
      }
    },

    space(origin, spacingMs) {
      spacings.set(origin, spacingMs);
      if (spacingMs > 0) limiter.beginSpacing(origin);
    },

    close: () => agent.destroy(),
  };
}

/** `latencyMs`: how long the response took to begin; undefined if there was none. */
type TimedResult = { result: FetchResult; latencyMs?: number };

function outcomeOf({ result, latencyMs }: TimedResult): RequestOutcome {
  if (result.kind === 'failed' && isOverload(result)) return { kind: 'overloaded' };
  return latencyMs === undefined ? { kind: 'none' } : { kind: 'completed', latencyMs };
}

async function getOnce(
  context: Context,
  { url, origin }: { url: URL; origin: string },
  request: FetchOptions,
): Promise<TimedResult> {
  const { limits, clock } = context;
  const { nowMs } = clock;
  const startedAt = nowMs();
  const exchange = beginExchange(context.agent, {
    origin,
    path: `${url.pathname}${url.search}`,
    headers: headersFor(url, request, limits),
    maxHeldBytes: bodyLimits(request, limits).maxBufferedBytes,
    nowMs,
  });
  const underWay = context.exchangesOf(request.signal).add(exchange);
  let body: ResponseBody | undefined;
  const watch = abortWhenLate(exchange, {
    lateness: () => (body === undefined ? latenessOfHead(startedAt, limits) : latenessOfBody(body, startedAt, limits)),
    clock,
    pace: limits,
  });
  try {
    const response = await exchange.response;
    body = response.body;
    const latencyMs = nowMs() - startedAt;
    request.onResponse?.();
    if (response.status !== NOT_MODIFIED || request.unlessMatching === undefined) {
      return { result: await toFetchResult(url, response, request, limits), latencyMs };
    }
    // Hardly any `304` has a body that is still arriving.
    if (!response.body.isOver) await response.body.dump();
    return { result: { kind: 'unchanged', validators: readValidators(response.headers) }, latencyMs };
  } catch (error) {
    request.signal.throwIfAborted();
    const late = watch.aborted();
    return { result: late === undefined ? failureOfError(error) : failureOfLateness(late) };
  } finally {
    // Ends the connection if an unwanted body is still arriving.
    exchange.abort(ENOUGH);
    watch.stop();
    underWay.delete(exchange);
  }
}

/** Names and values in turn. */
function headersFor(url: URL, { unlessMatching }: FetchOptions, { userAgent }: FetcherLimits): string[] {
  return ['user-agent', userAgent, 'accept', '*/*'].concat(
    isThisMachine(url.hostname) || COMPRESSED_NAME.test(url.pathname) ? NO_ENCODING : ENCODINGS,
    unlessMatching === undefined ? [] : conditionalHeaders(unlessMatching),
  );
}

function bodyLimits({ maxBufferedBytes }: FetchOptions, limits: FetcherLimits): BodyLimits {
  return { maxBufferedBytes: maxBufferedBytes ?? limits.maxBufferedBytes, maxBodyBytes: limits.maxBodyBytes };
}

async function toFetchResult(
  url: URL,
  response: OriginResponse,
  request: FetchOptions,
  limits: FetcherLimits,
): Promise<FetchResult> {
  const { status, headers } = response;
  const location = headers.location && escapeBytes(headerText(headers.location) ?? '');
  if (REDIRECTS.has(status) && location !== undefined) {
    await response.body.dump();
    if (URL.canParse(location, url.href)) return { kind: 'redirect', status, location: new URL(location, url) };
    return { kind: 'failed', reason: `redirects to "${location}"`, status, soft: false, retryAfterMs: undefined };
  }
  const accepted = (status >= 200 && status < 300) || request.acceptStatus?.(status) === true;
  if (!accepted) {
    await response.body.dump();
    return failureOfStatus(status, parseRetryAfterMs(headerText(headers['retry-after'])));
  }
  try {
    return await readAccepted(url, response, request, limits);
  } catch (error) {
    if (isCausedBy(error, UnreadableBody)) return failureOfBody(error, status);
    throw error;
  }
}

async function readAccepted(
  url: URL,
  { status, headers, body: arriving }: OriginResponse,
  request: FetchOptions,
  limits: FetcherLimits,
): Promise<FetchResult> {
  if (Number(headerText(headers['content-length'])) > limits.maxBodyBytes) {
    throw new UnreadableBody(`the body is larger than ${limits.maxBodyBytes} bytes`);
  }
  const { sink } = request;
  let contentType = '';
  const body = await readResponseBody(
    arriving,
    codingsOf(url, headers),
    bodyLimits(request, limits),
    sink === undefined
      ? undefined
      : async (bytes) => {
          const { first, all } = await peek(bytes);
          contentType = contentTypeOf(headers, first);
          await sink(all, contentType);
        },
    request.onDecoded ?? (() => undefined),
  );
  const validators = readValidators(headers);
  if (body === undefined) return { kind: 'sunk', status, contentType, validators };
  const headElements = elementsOfHeaders(headers);
  return {
    ...{ kind: 'response', status, contentType: contentTypeOf(headers, body), body, validators },
    nofollow: headerForbidsFollowing(headers['x-robots-tag']),
    ...(isAttachment(headers) && { attachment: true }),
    ...(headElements && { headElements }),
  };
}

/** The codings to decode: none for a file that is compressed itself. */
function codingsOf({ pathname }: URL, headers: Headers): readonly Coding[] {
  const isKept = COMPRESSED_NAME.test(pathname) && !READ_BY_BROWSERS.test(headerText(headers['content-type']) ?? '');
  return isKept ? [] : readContentEncoding(linesOf(headers, 'content-encoding'));
}

/** The exchanges that a signal ends. */
type ExchangesOf = (signal: AbortSignal) => Set<Exchange>;

/** One listener per signal for all of its exchanges: one each would cost more than its timer. */
function createExchangesOf(): ExchangesOf {
  const exchanges = new WeakMap<AbortSignal, Set<Exchange>>();
  return (signal) => {
    const known = exchanges.get(signal);
    if (known !== undefined) return known;
    const underWay = new Set<Exchange>();
    exchanges.set(signal, underWay);
    const cancel = (): void => {
      for (const exchange of underWay) exchange.abort(CANCELLED);
    };
    signal.addEventListener('abort', cancel, { once: true });
    return underWay;
  };
}
