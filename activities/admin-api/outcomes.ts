import { ApplicationFailure } from '@temporalio/common';
import { errorText } from './answer-fields.ts';
import type { AdminApiAnswer, AdminApiCall } from './http-client.ts';
import { parseRetryAfterMs } from './timestamps.ts';

/** What a failed activity tells the workflow: the `type` of its ApplicationFailure. */
export type AdminApiFailureType =
  /** 401 or 403: trying again only helps once somebody mended the key or the plan. */
  | 'KeyRefused'
  /** Any other 4xx or a redirect: this request will never be accepted as it is. */
  | 'Rejected'
  /** The job is unknown (404) or its files are gone (410). */
  | 'JobGone'
  /** The job ended without success. */
  | 'JobFailed'
  /** 429, or 503 with Retry-After: not before the time in the details. */
  | 'RateLimited'
  /** 5xx, resets, timeouts or unreadable answers, for longer than one activity waits. */
  | 'Unavailable'
  /** Nothing is wrong: the job still runs. Only ever seen as a pending activity's last failure. */
  | 'StillRunning'
  /** Nothing is wrong: another export of this domain has to end first. Seen as 'StillRunning' is. */
  | 'DomainBusy';

/** `details[0]` of every failure here. */
export type AdminApiFailureDetails = { status: number | null; retryAfterMs: number | null };

/** What an operation makes of a status that isn't 2xx. */
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

/** Where an operation differs from the common reading below. */
const OWN_VERDICTS: Record<Operation, Readonly<Record<number, Verdict>>> = {
  start: { 409: 'busy' },
  // Nothing of its own: an agent works on as many prompts as it gets, and 429 says how long to wait.
  prompt: {},
  read: { 404: 'gone', 410: 'gone' },
  bundle: { 404: 'gone', 409: 'not-ready', 410: 'gone' },
  cancel: { 404: 'unsupported', 405: 'unsupported', 409: 'finished', 410: 'finished', 501: 'unsupported' },
  list: { 400: 'unsupported', 404: 'unsupported', 405: 'unsupported', 501: 'unsupported' },
  log: { 404: 'unsupported', 405: 'unsupported', 410: 'unsupported', 501: 'unsupported' },
};

/** Reads a status: one table for every operation, so that no caller decides on its own. */
export function verdictOf(operation: Operation, answer: Pick<AdminApiAnswer, 'status' | 'retryAfter'>): Verdict {
  const own = OWN_VERDICTS[operation][answer.status];
  if (own !== undefined) return own;
  if (answer.status === 401 || answer.status === 403) return 'key-refused';
  if (answer.status === 429) return 'later';
  if (answer.status === 503 && answer.retryAfter !== undefined) return 'later';
  if (answer.status === 408 || answer.status === 425 || answer.status >= 500) return 'retry';
  return 'rejected';
}

export function isSuccess(answer: AdminApiAnswer): boolean {
  return answer.status >= 200 && answer.status < 300;
}

/** "POST /v1/… was answered 403: no plan": the one sentence that operators read. */
export function describeAnswer(call: AdminApiCall, answer: AdminApiAnswer): string {
  const where = answer.status >= 300 && answer.status < 400 ? ' (a redirect; check adminApi.url)' : '';
  return `${call.method} ${call.path} was answered ${answer.status}${where}: ${errorText(answer)}`;
}

export function retryAfterOf(answer: AdminApiAnswer): number | null {
  return parseRetryAfterMs(answer.retryAfter, answer.date) ?? null;
}

/** A failure that Temporal doesn't retry: the workflow decides what comes next. */
export function finalFailure(
  type: AdminApiFailureType,
  message: string,
  status: number | null,
  retryAfterMs: number | null = null,
): ApplicationFailure {
  const details: AdminApiFailureDetails = { status, retryAfterMs };
  return ApplicationFailure.create({ type, message, nonRetryable: true, details: [details] });
}

/** A failure that means "ask again later" and is no error: BENIGN keeps it out of error logs and metrics. */
export function benignWait(type: 'StillRunning' | 'DomainBusy', message: string, delayMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nextRetryDelay: delayMs,
    category: 'BENIGN',
  });
}
