import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { AdminApiFailureType } from '../../activities/admin-api/outcomes.ts';
import type { SiteError } from '../../contract/site-state.ts';

/** Why an activity gave up, as the workflow decides by it. */
export type Failure = {
  /** `OlderJob`: the service gave an old job instead of a new one. */
  type: AdminApiFailureType | 'NotConfigured' | 'OlderJob' | 'TimedOut' | 'Other';
  message: string;
  status: number | null;
  retryAfterMs: number | null;
};

const KNOWN = [
  'KeyRefused',
  'Rejected',
  'JobGone',
  'JobFailed',
  'RateLimited',
  'Unavailable',
  'NotConfigured',
  'OlderJob',
] satisfies Failure['type'][];

/** After these the same export goes on where it stopped; after all others a new one is tried. */
export function isResumable(failure: Failure): boolean {
  return failure.type === 'KeyRefused' || failure.type === 'RateLimited' || failure.type === 'Unavailable';
}

/**
 * Reads what an activity's promise was rejected with. Anything that is no failed activity is a fault of this code and
 * thrown on: it fails the workflow task, which Temporal repeats until mended code comes along.
 */
export function readFailure(error: unknown): Failure {
  if (error instanceof ApplicationFailure) return readApplicationFailure(error);
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure) return readApplicationFailure(cause);
  const message = cause?.message ?? error.message;
  return { type: cause instanceof TimeoutFailure ? 'TimedOut' : 'Other', message, status: null, retryAfterMs: null };
}

export function toSiteError(failure: Failure, nowMs: number): SiteError {
  return { message: failure.message.slice(0, 500), status: failure.status, at: new Date(nowMs).toISOString() };
}

function readApplicationFailure(failure: ApplicationFailure): Failure {
  const details: unknown = failure.details?.[0];
  const read = (name: string): number | null => {
    const value: unknown = typeof details === 'object' && details !== null ? Reflect.get(details, name) : null;
    return typeof value === 'number' ? value : null;
  };
  // A wait that was still going on when the time for it ran out.
  const timedOut = failure.type === 'StillRunning' || failure.type === 'DomainBusy';
  return {
    type: timedOut ? 'TimedOut' : typeOf(failure.type),
    message: failure.message,
    status: read('status'),
    retryAfterMs: read('retryAfterMs'),
  };
}

function typeOf(type: string | null | undefined): Failure['type'] {
  return KNOWN.find((known) => known === type) ?? 'Other';
}
