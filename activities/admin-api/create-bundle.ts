import { Context } from '@temporalio/activity';
import type { CallAdminApi } from './call-admin-api.ts';
import { temporaryFailure } from './call-admin-api.ts';
import { benignWait, describeResponse, finalFailure, retryAfterOf } from './outcomes.ts';
import { pollDelayMs } from './poll-delay.ts';
import { jobPath, readJob } from './poll-export.ts';
import { errorText, field, textField } from './response-fields.ts';
import { unreadable } from './start-export.ts';
import { parseTimestampMs } from './timestamps.ts';

const DAY_MS = 86_400_000;

/**
 * An `expiresAt` outside these bounds, relative to the response's `Date`, is a fault of the service, such as a wrong
 * unit.
 */
const OLDEST_MS = -DAY_MS;
const LATEST_MS = 3650 * DAY_MS;

export type BundleLink = {
  bundleUrl: string;
  /** The link's expiry as the service gives it (RFC 3339). Releases before 0.2 gave null if they couldn't read it. */
  expiresAt: string | null;
  /** `expiresAt` minus the response's `Date`, so clock skew doesn't matter. Zero or less: expired. */
  lifetimeMs: number;
  /**
   * When this attempt was scheduled, on Temporal's clock. The lifetime counts from here, so it is a little short at
   * worst.
   */
  obtainedAtMs: number;
  version: string | null;
};

/**
 * Requests a new link to a completed job's bundle. Throws `JobGone` (404, 410), and `JobFailed` if a 409 turns out to
 * mean that.
 */
export function createCreateBundle(call: CallAdminApi) {
  return async function createBundle(input: { jobId: string }): Promise<BundleLink> {
    const path = `${jobPath(input.jobId)}/bundle`;
    const request = { method: 'POST', path } as const;
    const { attempt, currentAttemptScheduledTimestampMs } = Context.current().info;
    const { verdict, response } = await call('bundle', request);
    if (verdict === 'not-ready') {
      const reading = await readJob(call, input.jobId);
      if ('finished' in reading && reading.finished.status === 'failed') {
        throw finalFailure('JobFailed', `${input.jobId} failed: ${reading.finished.error}`, response.status);
      }
      const delayMs = pollDelayMs(attempt, retryAfterOf(response));
      throw benignWait('StillRunning', `the bundle of ${input.jobId} isn't ready: ${errorText(response)}`, delayMs);
    }
    if (verdict !== 'success') throw finalFailure('JobGone', describeResponse(request, response), response.status);
    const bundleUrl = field(response, 'bundleUrl');
    if (typeof bundleUrl !== 'string' || !URL.canParse(bundleUrl)) {
      throw temporaryFailure(unreadable(response.status, 'bundleUrl', response.text), response.status);
    }
    const expiresAtMs = parseTimestampMs(field(response, 'expiresAt'));
    const lifetimeMs = expiresAtMs === undefined ? Number.NaN : expiresAtMs - respondedAtMs(response.date);
    if (expiresAtMs === undefined || !(lifetimeMs >= OLDEST_MS && lifetimeMs <= LATEST_MS)) {
      const given = JSON.stringify(field(response, 'expiresAt'))?.slice(0, 100) ?? 'nothing';
      const expected = 'expected a date between yesterday and ten years from now';
      throw temporaryFailure(`POST ${path} gave an unusable expiresAt (${given}): ${expected}`, response.status);
    }
    return {
      bundleUrl,
      expiresAt: new Date(expiresAtMs).toISOString(),
      lifetimeMs,
      obtainedAtMs: currentAttemptScheduledTimestampMs,
      version: textField(response, 'version')?.slice(0, 200) ?? null,
    };
  };
}

/** `Date` drops fractions of a second, so the response may be nearly a second newer than it says. */
const DATE_FRACTION_MS = 999;

function respondedAtMs(date: string | undefined): number {
  const dateMs = parseTimestampMs(date);
  return dateMs === undefined ? Date.now() : dateMs + DATE_FRACTION_MS;
}
