import { RefusedUrl } from './address-guard.ts';
import { UnreadableBody } from './content-encoding.ts';
import { errorCode, errorMessage, isCausedBy } from './error-code.ts';
import type { Lateness } from './late-answer.ts';
import { OriginAskedForQuiet } from './retry-after-gate.ts';

/** A request that brought no usable answer. `soft` ones may go away by themselves and are tried again. */
export type FetchFailure = {
  kind: 'failed';
  reason: string;
  /** The HTTP status, null where no answer came. */
  status: number | null;
  soft: boolean;
  /** How long the origin asked to be left alone. */
  retryAfterMs: number | undefined;
  /** The answer, or the rest of its body, didn't come in the time it was given. */
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

/** An answer with an error status. */
export function failureOfStatus(status: number, retryAfterMs: number | undefined): FetchFailure {
  return { kind: 'failed', reason: `HTTP ${status}`, status, soft: SOFT_STATUSES.has(status), retryAfterMs };
}

/** True where the origin shows that it is asked too much, or not at all well. */
export function isOverload(failure: FetchFailure): boolean {
  return failure.soft && failure.status !== 500;
}

/** A request that took all of its time: the origin is in trouble, or plays for time. */
export function failureOfLateness({ reason }: Lateness): FetchFailure {
  return { kind: 'failed', reason, status: null, soft: true, retryAfterMs: undefined, late: true };
}

/** What a thrown error means for the URL. Refusals, bad certificates and unknown names won't mend by trying again. */
export function failureOfError(error: unknown): FetchFailure {
  const code = errorCode(error);
  // undici asserts what only a broken answer, such as a 101 that nobody asked for, doesn't keep to.
  const message = code === 'ERR_ASSERTION' ? 'the answer breaks the rules of HTTP' : errorMessage(error);
  const hard =
    isCausedBy(error, RefusedUrl) ||
    isCausedBy(error, UnreadableBody) ||
    isCausedBy(error, OriginAskedForQuiet) ||
    (code !== undefined && (HARD_CODES.has(code) || code.startsWith('ERR_TLS') || code.includes('CERT')));
  const reason = code === undefined || message.includes(code) || hard ? message : `${message} (${code})`;
  return { kind: 'failed', reason, status: null, soft: !hard, retryAfterMs: undefined };
}
