import { ApplicationFailure } from '@temporalio/common';
import type { AdminApiCall, AdminApiResponse } from './http-client.ts';
import { errorText } from './response-fields.ts';
import { parseRetryAfterMs } from './timestamps.ts';

/** The `type` of the ApplicationFailure that a workflow gets from these activities. */
export type AdminApiFailureType =
  /** 401 or 403: a retry only helps after someone has fixed the key or the plan. */
  | 'KeyRefused'
  /** Any other 4xx, or a redirect: this request will never be accepted. */
  | 'Rejected'
  /** The job is unknown (404) or its files are gone (410). */
  | 'JobGone'
  /** The job failed or was cancelled. */
  | 'JobFailed'
  /** 429, or 503 with Retry-After: don't retry before the time in the details. */
  | 'RateLimited'
  /** 5xx, resets, timeouts or unreadable responses that lasted longer than the activity retries. */
  | 'Unavailable'
  /** No error: the job is still running. Only seen as a pending activity's last failure. */
  | 'StillRunning'
  /** No error: another export of this domain must end first. Only seen as a pending activity's last failure. */
  | 'DomainBusy';

/** `details[0]` of each of these failures. */
type AdminApiFailureDetails = { status: number | null; retryAfterMs: number | null };

/** What a status other than 2xx means for an operation. */
export type Verdict =
  | 'key-refused'
  | 'rejected'
  | 'gone'
  | 'busy'
  | 'not-ready'
  | 'finished'
  | 'unsupported'
  | 'later'
  | 'retry';

export type Operation = 'start' | 'prompt' | 'read' | 'bundle' | 'cancel' | 'list' | 'log';

/** Exceptions to the statuses in `verdictOf`. */
const OWN_VERDICTS: Record<Operation, Readonly<Record<number, Verdict>>> = {
  start: { 409: 'busy' },
  // No exceptions: a project can have many agent jobs at once, and 429 says how long to wait.
  prompt: {},
  read: { 404: 'gone', 410: 'gone' },
  bundle: { 404: 'gone', 409: 'not-ready', 410: 'gone' },
  cancel: { 404: 'unsupported', 405: 'unsupported', 409: 'finished', 410: 'finished', 501: 'unsupported' },
  list: { 400: 'unsupported', 404: 'unsupported', 405: 'unsupported', 501: 'unsupported' },
  log: { 404: 'unsupported', 405: 'unsupported', 410: 'unsupported', 501: 'unsupported' },
};

/** Interprets a status. One table for all operations, so callers don't decide on their own. */
export function verdictOf(operation: Operation, response: Pick<AdminApiResponse, 'status' | 'retryAfter'>): Verdict {
  const own = OWN_VERDICTS[operation][response.status];
  if (own !== undefined) return own;
  if (response.status === 401 || response.status === 403) return 'key-refused';
  if (response.status === 429) return 'later';
  if (response.status === 503 && response.retryAfter !== undefined) return 'later';
  if (response.status === 408 || response.status === 425 || response.status >= 500) return 'retry';
  return 'rejected';
}

export function isSuccess(response: AdminApiResponse): boolean {
  return response.status >= 200 && response.status < 300;
}

/** For example "POST /v1/… was answered 403: no plan". Operators read this sentence. */
export function describeResponse(call: AdminApiCall, response: AdminApiResponse): string {
  const where = response.status >= 300 && response.status < 400 ? ' (a redirect; check adminApi.url)' : '';
  return `${call.method} ${call.path} was answered ${response.status}${where}: ${errorText(response)}`;
}

export function retryAfterOf(response: AdminApiResponse): number | null {
  return parseRetryAfterMs(response.retryAfter, response.date) ?? null;
}

/** A failure that Temporal doesn't retry: the workflow decides what to do. */
export function finalFailure(
  type: AdminApiFailureType,
  message: string,
  status: number | null,
  retryAfterMs: number | null = null,
): ApplicationFailure {
  const details: AdminApiFailureDetails = { status, retryAfterMs };
  return ApplicationFailure.create({ type, message, nonRetryable: true, details: [details] });
}

/** A failure that means "poll again later". BENIGN keeps it out of error logs and metrics. */
export function benignWait(type: 'StillRunning' | 'DomainBusy', message: string, delayMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nextRetryDelay: delayMs,
    category: 'BENIGN',
  });
}
