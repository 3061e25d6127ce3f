import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { spreadMs } from '../../base/backoff.ts';
import type { AdminApiResponse, RequestOptions } from '../../client/admin-api-client.ts';
import { AdminApiError } from '../../client/admin-api-error.ts';
import { heartbeatWhile } from '../heartbeat.ts';
import type { AdminApiOperation, ResponseVerdict } from './outcomes.ts';
import { finalFailure, messageOf, responseVerdictOf } from './outcomes.ts';

/** A job's progress; null if the service gives none. */
export type ExportProgress = { percent: number | null; pageCount: number | null };

/**
 * Temporal retries failures that last less than this. After that the workflow gets the failure, so that the state shows
 * it.
 */
const RETRY_FOR_MS = 60_000;

/**
 * The activity waits for a Retry-After up to this. The workflow gets a longer one, because it can show it and keep it.
 */
const SHORT_WAIT_MS = 30_000;

/** Details of each heartbeat: `GET /sites/{site}` shows the progress, and the next attempt reads `troubleSinceMs`. */
type HeartbeatDetails = ExportProgress & { troubleSinceMs: number | null; lostStarts?: number };

/** The verdicts that the caller handles. All others have become failures. */
type OwnVerdict = Extract<ResponseVerdict, 'gone' | 'busy' | 'not-ready' | 'finished' | 'unsupported'>;

/** A success with its result, or an outcome that the caller handles. */
export type AdminApiOutcome<Result> =
  | { verdict: 'success'; result: Result; response: AdminApiResponse }
  | { verdict: OwnVerdict; error: AdminApiError };

export type CallAdminApi<Client> = <Result>(
  operation: AdminApiOperation,
  request: (client: Client, options: RequestOptions) => Promise<Result>,
) => Promise<AdminApiOutcome<Result>>;

/**
 * Calls the Admin API from an activity: heartbeats during the call, and throws an ApplicationFailure for every outcome
 * that all operations treat alike.
 * @param client one that doesn't retry, because Temporal does
 */
export function createAdminApiCaller<Client>(client: Client): CallAdminApi<Client> {
  return async (operation, request) => {
    const received: { response?: AdminApiResponse } = {};
    const onResponse = (response: AdminApiResponse): void => {
      received.response = response;
    };
    try {
      // If the activity is canceled, let the call end: Galley must know whether a create was accepted.
      const result = await heartbeatWhile(() => request(client, { onResponse }), lastHeartbeat);
      if (received.response === undefined) throw new Error(`The operation ${operation} made no request`);
      return { verdict: 'success', result, response: received.response };
    } catch (error) {
      if (!(error instanceof AdminApiError)) throw error;
      return { verdict: ownVerdict(operation, error), error };
    }
  };
}

/** The verdict, if the caller handles it. @throws ApplicationFailure otherwise. */
function ownVerdict(operation: AdminApiOperation, error: AdminApiError): OwnVerdict {
  const { status, retryAfterMs } = error;
  const verdict = responseVerdictOf(operation, error);
  const message = messageOf(error);
  switch (verdict) {
    case 'key-refused':
      throw finalFailure('KeyRefused', message, status);
    case 'rejected':
      throw finalFailure('Rejected', message, status);
    case 'later':
      // Which site may start next is decided by the gate of starts.
      if (operation === 'start' && status === 429 && retryAfterMs === null)
        throw finalFailure('RateLimited', message, status);
      throw laterFailure(message, status, retryAfterMs);
    case 'retry':
      throw temporaryFailure(message, status, retryAfterMs);
    default:
      heartbeat({ ...lastHeartbeat(), troubleSinceMs: null });
      return verdict;
  }
}

/** Retryable at first; final once the service has been failing for longer than a minute. */
export function temporaryFailure(
  message: string,
  status: number | null,
  retryAfterMs: number | null = null,
): ApplicationFailure {
  const sinceMs = lastHeartbeat().troubleSinceMs ?? Date.now();
  heartbeat({ ...lastHeartbeat(), troubleSinceMs: sinceMs });
  if (retryAfterMs !== null) return laterFailure(message, status, retryAfterMs);
  if (Date.now() - sinceMs >= RETRY_FOR_MS) return finalFailure('Unavailable', message, status);
  return ApplicationFailure.create({ type: 'Unavailable', message, details: [{ status, retryAfterMs }] });
}

/** Heartbeats a job's progress. The service responds again, so earlier failures no longer count. */
export function reportProgress(progress: ExportProgress): void {
  heartbeat({ ...progress, troubleSinceMs: null });
}

/** Starts of this activity, in this or an earlier attempt, that the service may have accepted without a known response. */
export function readLostStarts(): number {
  return lastHeartbeat().lostStarts ?? 0;
}

export function reportLostStarts(lostStarts: number): void {
  heartbeat({ ...lastHeartbeat(), lostStarts });
}

function laterFailure(message: string, status: number | null, retryAfterMs: number | null): ApplicationFailure {
  const waitMs = retryAfterMs ?? SHORT_WAIT_MS;
  if (waitMs > SHORT_WAIT_MS) return finalFailure('RateLimited', message, status, waitMs);
  return ApplicationFailure.create({
    type: 'RateLimited',
    message,
    // A wait of zero would be a hot loop against a service that asked for a pause.
    nextRetryDelay: Math.max(spreadMs(waitMs, Context.current().info.attempt, Math.random()), 1_000),
    details: [{ status, retryAfterMs: waitMs }],
  });
}

/** What this attempt has reported. The context only has the last attempt's heartbeat. */
const reported = new WeakMap<Context, HeartbeatDetails>();

function heartbeat(details: HeartbeatDetails): void {
  reported.set(Context.current(), details);
  Context.current().heartbeat(details);
}

function lastHeartbeat(): HeartbeatDetails {
  const now = reported.get(Context.current());
  if (now !== undefined) return now;
  const details: unknown = Context.current().info.heartbeatDetails;
  const read = (name: string): number | null => {
    const value = typeof details === 'object' && details !== null ? Reflect.get(details, name) : null;
    return typeof value === 'number' ? value : null;
  };
  const lostStarts = read('lostStarts');
  const known = { percent: read('percent'), pageCount: read('pageCount'), troubleSinceMs: read('troubleSinceMs') };
  return lostStarts === null ? known : { ...known, lostStarts };
}
