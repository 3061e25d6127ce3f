import { ApplicationFailure } from '@temporalio/workflow';
import type { StartedExport } from '../../activities/admin-api/start-export.ts';
import { jobOf } from './desired-version.ts';
import type { State } from './state.ts';

/** A job of this age, by the service's own clock, was created by the request that it answers. */
const JUST_CREATED_MS = 60_000;

/**
 * Why the response to a start is not a new job, as a sentence; null if it is one, as far as the response shows. A repeated
 * idempotency key, after Temporal was reset or restored, returns the job of the first time.
 *
 * After one refusal the next response is trusted more: a service may return the same job while nothing has changed, or its
 * clock may have been set back. Only a job that is provably old is refused again.
 */
export function whyOlder(
  { newest: newestId, jobs, olderJobId }: Pick<State, 'newest' | 'jobs' | 'olderJobId'>,
  { jobId, createdAt, ageMs }: StartedExport,
): string | null {
  const again = olderJobId !== null;
  const newest = jobOf({ jobs }, newestId);
  const isKnown = jobs.some((job) => job.jobId === jobId);
  if (isKnown && !(again && jobId === newestId)) return `${jobId} was exported before`;
  const newestAt = newest?.createdAt ?? null;
  if (createdAt === null || newestAt === null || Date.parse(createdAt) >= Date.parse(newestAt)) return null;
  if (again && isJustCreated(ageMs)) return null;
  return `${jobId} is of ${createdAt}, and ${newest?.jobId} of ${newestAt} was exported since`;
}

/**
 * The creation time that deployments compare. Null if the service's clock was set back, because the deployments have to
 * accept the job although it seems older than the last one.
 */
export function comparableTime(
  { newest, jobs }: Pick<State, 'newest' | 'jobs'>,
  started: StartedExport,
): string | null {
  const { createdAt } = started;
  const newestAt = jobOf({ jobs }, newest)?.createdAt ?? null;
  const setBack = createdAt !== null && newestAt !== null && Date.parse(createdAt) < Date.parse(newestAt);
  return setBack ? null : createdAt;
}

/** Fails the export. A new one with a new key follows. */
export function olderJob(why: string): ApplicationFailure {
  const message = `the Admin API gave an old export instead of a new one (${why}): exporting again with a new key`;
  return ApplicationFailure.create({ type: 'OlderJob', message, nonRetryable: true });
}

function isJustCreated(ageMs: number | null): boolean {
  return ageMs !== null && ageMs < JUST_CREATED_MS;
}
