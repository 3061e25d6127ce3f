import { Context } from '@temporalio/activity';
import type { AdminApiResponse, Bundle } from '../../client/admin-api-client.ts';
import { integrityOf } from '../../contract/integrity.ts';
import type { CallAdminApi } from './call-admin-api.ts';
import { temporaryFailure } from './call-admin-api.ts';
import { benignWait, finalFailure } from './outcomes.ts';
import { readJob, shortVersion } from './poll-export.ts';
import { pollDelayMs } from './poll-job.ts';
import type { ExportRef, StaticExport } from './static-export.ts';

const DAY_MS = 86_400_000;

/**
 * An `expiresAt` outside these bounds, relative to the response's `Date`, is a fault of the service, such as a wrong
 * unit.
 */
const OLDEST_MS = -DAY_MS;
const LATEST_MS = 3650 * DAY_MS;

export type BundleLink = {
  bundleUrl: string;
  /** The link's expiry as the service gives it (RFC 3339). */
  expiresAt: string;
  /** `expiresAt` minus the response's `Date`, so clock skew doesn't matter. Zero or less: expired. */
  lifetimeMs: number;
  /**
   * When this attempt was scheduled, on Temporal's clock. The lifetime counts from here, so it is a little short at
   * worst.
   */
  obtainedAtMs: number;
  version: string | null;
  /** Of the bundle's manifest (contract/integrity.ts), if the service reports it. */
  integrity?: string | undefined;
};

/**
 * Requests a new link to a completed job's bundle. Throws `JobGone` (404, 410), and `JobFailed` if a 409 turns out to
 * mean that.
 */
export function createCreateBundle(call: CallAdminApi<StaticExport>) {
  return async function createBundle(ref: ExportRef): Promise<BundleLink> {
    const { jobId } = ref;
    const { attempt, currentAttemptScheduledTimestampMs } = Context.current().info;
    const outcome = await call('bundle', (exports, options) => exports.bundle(ref, options));
    if (outcome.verdict === 'not-ready') {
      const { error } = outcome;
      const reading = await readJob(call, ref);
      if ('finished' in reading && reading.finished.status === 'failed') {
        throw finalFailure('JobFailed', `${jobId} failed: ${reading.finished.error}`, error.status);
      }
      const delayMs = pollDelayMs(attempt, error.retryAfterMs);
      throw benignWait('StillRunning', `the bundle of ${jobId} isn't ready: ${error.reason}`, delayMs);
    }
    if (outcome.verdict !== 'success') throw finalFailure('JobGone', outcome.error.message, outcome.error.status);
    const { result, response } = outcome;
    return {
      bundleUrl: result.bundleUrl,
      ...lifetimeOf(result, response),
      obtainedAtMs: currentAttemptScheduledTimestampMs,
      version: shortVersion(result),
      ...(result.manifestSha256 !== undefined && { integrity: integrityOf(result.manifestSha256) }),
    };
  };
}

function lifetimeOf({ jobId, expiresAt }: Bundle, response: AdminApiResponse) {
  const lifetimeMs = expiresAt === null ? Number.NaN : Date.parse(expiresAt) - respondedAtMs(response);
  if (expiresAt !== null && lifetimeMs >= OLDEST_MS && lifetimeMs <= LATEST_MS) return { expiresAt, lifetimeMs };
  const given = /"expiresAt"\s*:\s*("[^"]*"|[^,}]*)/.exec(response.text)?.[1]?.trim().slice(0, 100) ?? 'nothing';
  const expected = 'expected a date between yesterday and ten years from now';
  throw temporaryFailure(`the bundle of ${jobId} has an unusable expiresAt (${given}): ${expected}`, response.status);
}

/** `Date` drops fractions of a second, so the response may be nearly a second newer than it says. */
const DATE_FRACTION_MS = 999;

function respondedAtMs({ dateMs }: AdminApiResponse): number {
  return dateMs === null ? Date.now() : dateMs + DATE_FRACTION_MS;
}
