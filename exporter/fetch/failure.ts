import { RefusedUrl } from './address-guard.ts';
import { UnreadableBody } from './content-encoding.ts';
import { errorCode, errorMessage, isCausedBy } from './error-code.ts';
import type { Lateness } from './late-response.ts';
import { OriginAskedForQuiet } from './retry-after-gate.ts';

/** A request without a usable response. `soft` failures may be temporary and are retried. */
export type FetchFailure = {
  kind: 'failed';
  reason: string;
  /** The HTTP status; null if there was no response. */
  status: number | null;
  soft: boolean;
  /** The pause that the origin asked for. */
  retryAfterMs: number | undefined;
  /** The response, or the rest of its body, timed out. */
  late?: true;
};

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

/** The failure of a request that timed out: the origin has a problem or stalls on purpose. */
export function failureOfLateness({ reason }: Lateness): FetchFailure {
  return { kind: 'failed', reason, status: null, soft: true, retryAfterMs: undefined, late: true };
}

/** The failure of a thrown error. URLs that the guard refused, bad certificates and unknown names aren't retried. */
export function failureOfError(error: unknown): FetchFailure {
  const code = errorCode(error);
  // undici fails an assertion only if a response breaks the protocol, such as an unrequested 101.
  const message = code === 'ERR_ASSERTION' ? 'the response breaks the rules of HTTP' : errorMessage(error);
  const hard =
    isCausedBy(error, RefusedUrl) ||
    isCausedBy(error, UnreadableBody) ||
    isCausedBy(error, OriginAskedForQuiet) ||
    (code !== undefined && (HARD_CODES.has(code) || code.startsWith('ERR_TLS') || code.includes('CERT')));
  const reason = code === undefined || message.includes(code) || hard ? message : `${message} (${code})`;
  return { kind: 'failed', reason, status: null, soft: !hard, retryAfterMs: undefined };
}
