import { backoff } from '../../base/backoff.ts';
import { meaningOf, plainText } from '../../base/plain-reason.ts';
import { withoutAddresses } from '../../base/without-addresses.ts';
import type { FetchFailure, Validators } from '../ports.ts';
import { RefusedUrl } from './address-guard.ts';
import { UnreadableBody } from './content-coding.ts';
import { errorMessage, fetchErrorCode, isCausedBy } from './error-code.ts';
import type { Lateness } from './late-response.ts';
import { MAX_PATIENCE_MS, OriginAskedForQuiet } from './retry-after-gate.ts';

const SOFT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]);
const HARD_CODES: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EPROTO',
  'HPE_HEADER_OVERFLOW',
  'UND_ERR_HEADERS_OVERFLOW',
  'ERR_ASSERTION',
]);

/** The failure of a response with an error status. */
export function failureOfStatus(status: number, retryAfterMs: number | undefined): FetchFailure {
  return { kind: 'failed', reason: `HTTP ${status}`, status, soft: SOFT_STATUSES.has(status), retryAfterMs };
}

/** True if the failure suggests that the origin is overloaded or unhealthy. */
export function isOverload(failure: FetchFailure): boolean {
  return failure.soft && failure.status !== 500;
}

/** The failure of a response whose body can't be used: the origin works, but the file is lost. */
export function failureOfBody(error: unknown, status: number): FetchFailure {
  return { ...failureOfError(error), status, soft: false };
}

/** The failure of a request that timed out: the origin has a problem or stalls on purpose. */
export function failureOfLateness({ reason }: Lateness): FetchFailure {
  return { kind: 'failed', reason, status: null, soft: true, retryAfterMs: undefined, late: true };
}

/** Errors whose own messages are unclear, or name the host that an operator set as the site's origin. */
const MESSAGES: ReadonlyMap<string | undefined, string> = new Map([
  // undici fails an assertion only if a response breaks the protocol, such as an unrequested 101.
  ['ERR_ASSERTION', 'the response breaks the rules of HTTP'],
  ['ENOTFOUND', 'no such host'],
  ['EAI_AGAIN', 'its host name could not be looked up'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host'],
]);

/**
 * The failure of a thrown error. URLs that the guard refused, bad certificates and unknown names aren't retried. The
 * reason is for the project's members, who don't learn addresses of the operator's network.
 */
export function failureOfError(error: unknown): FetchFailure {
  const code = fetchErrorCode(error);
  const message = errorMessage(error);
  const hard =
    isCausedBy(error, RefusedUrl) ||
    isCausedBy(error, UnreadableBody) ||
    isCausedBy(error, OriginAskedForQuiet) ||
    (code !== undefined && (HARD_CODES.has(code) || code.startsWith('ERR_TLS') || code.includes('CERT')));
  const meaning = code === undefined || message.includes(code) || hard ? undefined : meaningOf(code);
  const whole = meaning === undefined ? message : `${message} (${meaning})`;
  const reason = MESSAGES.get(code) ?? plainText(withoutAddresses(whole));
  return { kind: 'failed', reason, status: null, soft: !hard, retryAfterMs: undefined };
}

const grownDelayMs = backoff({ firstMs: 250, maxMs: 8_000 });
/** Failed connections and overloaded origins get more attempts than error pages. */
const EXTRA_ATTEMPTS = 4;
/** Each of these attempts held a connection for as long as a response may take. */
const MAX_LATE_ATTEMPTS = 3;

/** The delay before the next attempt, in milliseconds; undefined to give up. */
export function fetchRetryDelayMs(failure: FetchFailure, attempts: number, maxAttempts: number): number | undefined {
  if (!failure.soft) return undefined;
  if (failure.late && attempts >= Math.min(maxAttempts, MAX_LATE_ATTEMPTS)) return undefined;
  const patient = failure.status === null || failure.status === 429 || failure.status === 503;
  if (attempts >= maxAttempts + (patient ? EXTRA_ATTEMPTS : 0)) return undefined;
  const askedMs = failure.retryAfterMs ?? 0;
  if (askedMs > MAX_PATIENCE_MS) return undefined;
  return Math.max(askedMs, grownDelayMs(attempts));
}

export const NO_VALIDATORS: Validators = { etag: null, lastModified: null };

const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
const MAX_LENGTH = 1_000;
/** Dates have a resolution of one second: a resource may change again within the second of its response. */
const MIN_AGE_MS = 1_000;

/** The headers of a response, by name in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The values of a header, one for each of its lines. Node reads bytes beyond ASCII as Latin-1. */
export function linesOf(headers: Headers, name: string): readonly string[] {
  const value = headers[name];
  return typeof value === 'string' ? [value] : (value ?? []);
}

function textOf(headers: Headers, name: string): string {
  const value = headers[name];
  return typeof value === 'string' && value.length <= MAX_LENGTH ? value.trim() : '';
}

/**
 * The validators of a response that can be trusted. A `Last-Modified` counts only if that second had passed on the
 * origin's own clock (RFC 9110, 8.8.2.2), an `ETag` only if its syntax is valid.
 */
export function readValidators(headers: Headers): Validators {
  const etag = textOf(headers, 'etag');
  const lastModified = textOf(headers, 'last-modified');
  const ageMs = Date.parse(textOf(headers, 'date')) - Date.parse(lastModified);
  return {
    etag: ENTITY_TAG.test(etag) ? etag : null,
    lastModified: ageMs >= MIN_AGE_MS ? lastModified : null,
  };
}

/** The headers of a conditional request: names and values in turn. The origin sends the body only if it has changed. */
export function conditionalHeaders({ etag, lastModified }: Validators): string[] {
  const headers: string[] = [];
  if (etag !== null) headers.push('if-none-match', etag);
  if (lastModified !== null) headers.push('if-modified-since', lastModified);
  return headers;
}
