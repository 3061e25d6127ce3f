import { ApplicationFailure } from '@temporalio/workflow';
import type { StartedExport } from '../../activities/admin-api/start-export.ts';
import type { SiteMemory } from './site-memory.ts';

/** A job of this age, by the service's own clock, was made for the request that it answers. */
const JUST_MADE_MS = 60_000;

/**
 * Why an answer to a start is no new export, as a sentence; null if it is one, as far as the service tells. An
 * idempotency key that was used before (Temporal was reset or restored) is answered with the job of that time.
 *
 * The answer to the next key is believed more: a service may give the same job again while nothing has changed, and its
 * clock may have been set back. Only a job that is provably old is refused again.
 */
export function whyOlder(
  { newest, live, jobs, olderJobId }: Pick<SiteMemory, 'newest' | 'live' | 'jobs' | 'olderJobId'>,
  { jobId, createdAt, ageMs }: StartedExport,
): string | null {
  // Releases before 0.2 told no times, and deployed whatever they were given.
  if (createdAt === undefined) return null;
  const again = olderJobId !== null;
  const isNewest = jobId === newest?.jobId;
  const known = isNewest || jobId === live?.jobId || jobs.some((job) => job.jobId === jobId);
  if (known && !(again && isNewest)) return `${jobId} was exported before`;
  const newestAt = newest?.createdAt ?? null;
  if (createdAt === null || newestAt === null || Date.parse(createdAt) >= Date.parse(newestAt)) return null;
  if (again && isJustMade(ageMs)) return null;
  return `${jobId} is of ${createdAt}, and ${newest?.jobId} of ${newestAt} was exported since`;
}

/**
 * The time by which a job is compared with others. Null if the service's clock was set back, so that the job seems older
 * than what was exported before it: the deployments must take it nevertheless.
 */
export function comparableTime({ newest }: Pick<SiteMemory, 'newest'>, started: StartedExport): string | null {
  const { createdAt = null } = started;
  const newestAt = newest?.createdAt ?? null;
  const setBack = createdAt !== null && newestAt !== null && Date.parse(createdAt) < Date.parse(newestAt);
  return setBack ? null : createdAt;
}

/** The failure that ends such an export; a new one with a new key follows. */
export function olderJob(why: string): ApplicationFailure {
  const message = `the Admin API gave an old export instead of a new one (${why}): exporting again with a new key`;
  return ApplicationFailure.create({ type: 'OlderJob', message, nonRetryable: true });
}

function isJustMade(ageMs: number | null | undefined): boolean {
  return ageMs !== null && ageMs !== undefined && ageMs < JUST_MADE_MS;
}
