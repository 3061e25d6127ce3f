import { headerForbidsFollowing } from '../discover/follow-rules.ts';
import { elementsOfHeaders } from '../document/header-elements.ts';
import type { Fetcher, FetchOptions } from '../ports.ts';
import type { AddressGuard } from './address-guard.ts';
import { type BodyLimits, readBody } from './body-reader.ts';
import { type Clock, systemClock } from './clock.ts';
import { ACCEPT_ENCODING, UnreadableBody } from './content-encoding.ts';
import { beginExchange, type Exchange, type OriginResponse } from './exchange.ts';
import { failureOfError, failureOfLateness, failureOfStatus, isOverload } from './failure.ts';
import type { FetchResult } from './fetch-result.ts';
import { abortWhenLate, latenessOfBody, latenessOfHead, type ResponsePace } from './late-response.ts';
import type { OriginLimiter, RequestOutcome } from './origin-limiter.ts';
import { createPinnedAgent } from './pinned-agent.ts';
import type { ResponseBody } from './response-body.ts';
import { readRetryAfterMs } from './retry-after-gate.ts';
import { conditionalHeaders, readValidators } from './validators.ts';

export type FetcherLimits = BodyLimits &
  ResponsePace & {
    maxConnectionsPerOrigin: number;
    userAgent: string;
  };

const NOT_MODIFIED = 304;
/** The reason for ending an exchange early; one shared error, because each new one would capture a stack. */
const ENOUGH = new Error('enough of the response was read');
const CANCELLED = new Error('the request was cancelled');
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Compression between processes of one machine costs both sides time and saves nothing. */
function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Fetches over kept-alive connections that only the guard opens, within the limiter's concurrency. */
export function createFetcher(options: {
  guard: AddressGuard;
  limiter: OriginLimiter;
  limits: FetcherLimits;
  clock?: Clock;
}): Fetcher {
  const { guard, limiter, limits, clock = systemClock } = options;
  const agent = createPinnedAgent({ guard, maxConnectionsPerOrigin: limits.maxConnectionsPerOrigin });
  const spacings = new Map<string, number>();
  const headers = ['user-agent', limits.userAgent, 'accept', '*/*'];
  const encodings = ['accept-encoding', ACCEPT_ENCODING];
  const localEncodings = ['accept-encoding', 'identity'];

  /** The exchanges that a signal ends. One listener for all of them: one each would cost more than its timer. */
  const exchanges = new WeakMap<AbortSignal, Set<Exchange>>();

  function exchangesOf(signal: AbortSignal): Set<Exchange> {
    const known = exchanges.get(signal);
    if (known !== undefined) return known;
    const underWay = new Set<Exchange>();
    exchanges.set(signal, underWay);
    const cancel = (): void => {
      for (const exchange of underWay) exchange.abort(CANCELLED);
    };
    signal.addEventListener('abort', cancel, { once: true });
    return underWay;
  }

  function withinMemory({ maxBufferedBytes = limits.maxBufferedBytes }: FetchOptions): BodyLimits {
    return { maxBufferedBytes, maxBodyBytes: limits.maxBodyBytes };
  }

  async function toFetchResult(url: URL, response: OriginResponse, request: FetchOptions): Promise<FetchResult> {
    const { status } = response;
    const location = headerText(response.headers.location);
    if (REDIRECTS.has(status) && location !== undefined) {
      await response.body.dump();
      if (URL.canParse(location, url.href)) return { kind: 'redirect', status, location: new URL(location, url) };
      return { kind: 'failed', reason: `redirects to "${location}"`, status, soft: false, retryAfterMs: undefined };
    }
    const accepted = (status >= 200 && status < 300) || request.acceptStatus?.(status) === true;
    if (!accepted) {
      await response.body.dump();
      return failureOfStatus(status, readRetryAfterMs(headerText(response.headers['retry-after']), Date.now()));
    }
    const contentType = headerText(response.headers['content-type']) ?? '';
    const nofollow = headerForbidsFollowing(response.headers['x-robots-tag']);
    if (Number(headerText(response.headers['content-length'])) > limits.maxBodyBytes) {
      throw new UnreadableBody(`the body is larger than ${limits.maxBodyBytes} bytes`);
    }
    const { sink } = request;
    const body = await readBody(
      response.body,
      headerText(response.headers['content-encoding']),
      withinMemory(request),
      sink === undefined ? undefined : (bytes) => sink(bytes, contentType),
      request.onDecoded ?? (() => undefined),
    );
    const validators = readValidators(response.headers);
    if (body === undefined) return { kind: 'sunk', status, contentType, validators };
    const headElements = elementsOfHeaders(response.headers);
    return { kind: 'response', status, contentType, body, validators, nofollow, ...(headElements && { headElements }) };
  }

  /** Also returns how long the response took to begin; undefined if there was none. */
  async function getOnce(url: URL, request: FetchOptions): Promise<{ result: FetchResult; latencyMs?: number }> {
    const { unlessMatching } = request;
    const startedAt = clock.nowMs();
    const exchange = beginExchange(agent, {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      headers: headers.concat(
        isThisMachine(url.hostname) ? localEncodings : encodings,
        unlessMatching === undefined ? [] : conditionalHeaders(unlessMatching),
      ),
      maxHeldBytes: withinMemory(request).maxBufferedBytes,
      nowMs: clock.nowMs,
    });
    const underWay = exchangesOf(request.signal).add(exchange);
    let body: ResponseBody | undefined;
    const watch = abortWhenLate(exchange, {
      lateness: () =>
        body === undefined ? latenessOfHead(startedAt, limits) : latenessOfBody(body, startedAt, limits),
      clock,
      pace: limits,
    });
    try {
      const response = await exchange.response;
      body = response.body;
      const latencyMs = clock.nowMs() - startedAt;
      request.onResponse?.();
      if (response.status !== NOT_MODIFIED || unlessMatching === undefined) {
        return { result: await toFetchResult(url, response, request), latencyMs };
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

  return {
    async get(url, request) {
      let release: (outcome: RequestOutcome) => void;
      try {
        guard.checkUrl(url);
        release = await limiter.acquire(url.origin, request.signal, spacings.get(url.origin));
      } catch (error) {
        request.signal.throwIfAborted();
        return failureOfError(error);
      }
      let outcome: RequestOutcome = { kind: 'none' };
      try {
        request.onBegin?.();
        const { result, latencyMs } = await getOnce(url, request);
        if (result.kind === 'failed' && isOverload(result)) {
          outcome = { kind: 'overloaded' };
          if (result.retryAfterMs !== undefined) limiter.pause(url.origin, result.retryAfterMs);
        } else if (latencyMs !== undefined) {
          outcome = { kind: 'completed', latencyMs };
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
