import { ApplicationFailure } from '@temporalio/common';
import { type AdminApiError, isRedirect, isSuccess } from '../../client/admin-api-error.ts';

/** The `type` of the ApplicationFailure that a workflow gets from these activities. */
export type AdminApiFailureType =
  /** 401 or 403: a retry only helps after someone has fixed the key or the plan. */
  | 'KeyRefused'
  /** Any other 4xx, or a redirect: this request will never be accepted. */
  | 'Rejected'
  /** The job is unknown (404) or its files are gone (410). */
  | 'JobGone'
  /** The job failed or was canceled. */
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

/** What a failed call means for an operation. */
export type ResponseVerdict =
  | 'key-refused'
  | 'rejected'
  | 'gone'
  | 'busy'
  | 'not-ready'
  | 'finished'
  | 'unsupported'
  | 'later'
  | 'retry';

export type AdminApiOperation =
  | 'start'
  | 'prompt'
  | 'message'
  | 'read'
  | 'bundle'
  | 'cancel'
  | 'list'
  | 'log'
  | 'report'
  | 'preview';

/** The service doesn't have this operation. */
const ABSENT = { 404: 'unsupported', 405: 'unsupported', 501: 'unsupported' } as const;

/** Exceptions to the statuses in `verdictOf`. 200: a success that can't be read. */
const OWN_VERDICTS: Record<AdminApiOperation, Readonly<Record<number, ResponseVerdict>>> = {
  start: { 409: 'busy' },
  // No exceptions: a project can have many agent jobs at once, and 429 says how long to wait.
  prompt: {},
  // 404 also means that the job is unknown: either way no follow-up is possible.
  message: { ...ABSENT, 409: 'busy', 410: 'unsupported' },
  read: { 404: 'gone', 410: 'gone' },
  bundle: { 404: 'gone', 409: 'not-ready', 410: 'gone' },
  cancel: { ...ABSENT, 409: 'finished', 410: 'finished' },
  list: { ...ABSENT, 200: 'unsupported', 400: 'unsupported' },
  report: { ...ABSENT, 200: 'unsupported', 409: 'unsupported', 410: 'unsupported' },
  preview: { ...ABSENT, 200: 'unsupported' },
  log: { ...ABSENT, 200: 'unsupported', 410: 'unsupported' },
};

/** Interprets a failed call. One table for all operations, so callers don't decide on their own. */
export function responseVerdictOf(
  operation: AdminApiOperation,
  { status, retryAfterMs }: AdminApiError,
): ResponseVerdict {
  // No response, or a response that can't be read: the service may have a moment of trouble.
  if (status === null) return 'retry';
  const own = OWN_VERDICTS[operation][isSuccess(status) ? 200 : status];
  if (own !== undefined) return own;
  if (isSuccess(status)) return 'retry';
  if (status === 401 || status === 403) return 'key-refused';
  if (status === 429) return 'later';
  if (status === 503 && retryAfterMs !== null) return 'later';
  if (status === 408 || status === 425 || status >= 500) return 'retry';
  return 'rejected';
}

/** A sentence for operators, such as "the Admin API refuses (403): no plan". The activity's name says what was asked. */
export function messageOf({ reason, status }: AdminApiError): string {
  if (status === null) return `the Admin API can't be reached: ${reason}`;
  if (isRedirect(status)) return `the Admin API redirects (${status}): ${reason} (check adminApi.url)`;
  if (isSuccess(status)) return `the Admin API's response can't be used: ${reason}`;
  return `the Admin API ${status < 500 ? 'refuses' : 'fails'} (${status}): ${reason}`;
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
