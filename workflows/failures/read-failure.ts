import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { z } from 'zod';
import type { AdminApiFailureType } from '../../activities/admin-api/outcomes.ts';
import type { SiteError } from '../../contract/site-state.ts';

/** Why an activity failed for good. */
export type Failure = {
  /** `OlderJob`: the service returned an old job instead of a new one. */
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

const notConfiguredDetails = z.object({ operators: z.array(z.string()) });

/** The same request can succeed later. Every other failure needs a new request. */
export function isRetryable(failure: Failure): boolean {
  return failure.type === 'KeyRefused' || failure.type === 'RateLimited' || failure.type === 'Unavailable';
}

/**
 * Reads the rejection of an activity. Any other error is a bug in workflow code and thrown again: it fails the workflow
 * task, which Temporal retries until a fixed release is deployed.
 */
export function readFailure(error: unknown): Failure {
  if (error instanceof ApplicationFailure) return readApplicationFailure(error);
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure) return readApplicationFailure(cause);
  const message = cause?.message ?? error.message;
  return { type: cause instanceof TimeoutFailure ? 'TimedOut' : 'Other', message, status: null, retryAfterMs: null };
}

/** Why an activity failed. One that timed out has often failed before, which says more than the timeout. */
export function failureReason(error: unknown, withoutReason: string): string {
  const { type, message } = readFailure(error);
  if (type !== 'TimedOut' || !(error instanceof ActivityFailure)) return message;
  const before = error.cause instanceof TimeoutFailure ? error.cause.cause : undefined;
  return before?.message ?? withoutReason;
}

/** The operators to notify of a `NotConfigured` failure, as the worker that was asked last knows them. */
export function operatorsOfFailure(error: unknown): string[] {
  const failed = error instanceof ActivityFailure ? error.cause : error;
  const cause = failed instanceof TimeoutFailure ? failed.cause : failed;
  if (!(cause instanceof ApplicationFailure) || cause.type !== 'NotConfigured') return [];
  const parsed = notConfiguredDetails.safeParse(cause.details?.[0]);
  return parsed.success ? parsed.data.operators : [];
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
  // Failures of polling activities: Temporal reports the last one when the time for all attempts is over.
  const timedOut = failure.type === 'StillRunning' || failure.type === 'DomainBusy';
  return {
    type: timedOut ? 'TimedOut' : (KNOWN.find((known) => known === failure.type) ?? 'Other'),
    message: failure.message,
    status: read('status'),
    retryAfterMs: read('retryAfterMs'),
  };
}
