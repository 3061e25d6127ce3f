import type { Logger } from 'pino';
import type { Acquired, AcquireRequest } from './acquire-bundle.ts';
import { BundleUnavailableError, ValuesFileError } from './errors.ts';
import { resourceFingerprint } from './link.ts';
import { problemMessage } from './problem.ts';
import { type RetryPauses, retryDelayMs } from './retry-delay.ts';
import type { Served } from './served.ts';
import type { Target } from './target.ts';
import type { Wanted } from './values.ts';

type WantedOn = Extract<Wanted, { enabled: true }>;

export type FollowerDeps = {
  served: Served;
  acquire(request: AcquireRequest): Promise<Acquired>;
  pauses: RetryPauses;
  /** How long a download may continue after the values file asks for another object, in milliseconds. */
  supersedeGraceMs: number;
  now: () => Date;
  random: () => number;
  logger: Logger;
};

export type FollowerReport = {
  problem: { message: string; status: number | null; at: string } | null;
  checkedAt: string | null;
  nextTryAt: string | null;
  download: { receivedBytes: number; totalBytes: number | null } | null;
};

export type Follower = {
  report(): FollowerReport;
  /** Passes on what the values file asks for; acted on immediately or after the current attempt. */
  follow(target: Target): void;
  /** Ends the current attempt; resolves when nothing is written any more. */
  stop(): Promise<void>;
};

/**
 * Makes the deployment serve what the values file asks for: one attempt at a time, the newest target next, with
 * retries. A changed target doesn't end a download immediately, because links that are refreshed faster than a bundle
 * downloads would never let it finish.
 */
export function createFollower(deps: FollowerDeps): Follower {
  const { served, acquire, pauses, supersedeGraceMs, now, random, logger } = deps;
  const report: FollowerReport = { problem: null, checkedAt: null, nextTryAt: null, download: null };
  let target: Target | undefined;
  let running: Promise<void> | undefined;
  let runningLink: URL | undefined;
  let attempt = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;
  /** Until the link has been requested once since the start, the versions on the disk prove nothing about it. */
  let isFirst = true;
  let stopped = false;

  function start(): void {
    clearTimeout(retry);
    report.nextTryAt = null;
    if (stopped || running !== undefined || target === undefined) return;
    const tried = target;
    attempt = new AbortController();
    running = tryOnce(tried, attempt.signal).then((error) => {
      clearTimeout(grace);
      running = undefined;
      report.download = null;
      if (stopped) return;
      if (tried !== target) {
        start();
      } else if (error !== undefined) {
        planRetry(error);
      }
    });
  }

  async function tryOnce(tried: Target, signal: AbortSignal): Promise<unknown> {
    try {
      if (tried.kind === 'unreadable') throw tried.error;
      if (tried.wanted.enabled) await serve(tried.wanted, signal);
      else await served.setEnabled(false);
      report.checkedAt = now().toISOString();
      report.problem = null;
      failures = 0;
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      const status = error instanceof BundleUnavailableError ? error.status : null;
      const message = problemMessage(error);
      report.problem = { message, status, at: now().toISOString() };
      logger.warn({ status }, `Not updated: ${message}`);
      return error;
    }
  }

  async function serve({ link, version }: WantedOn, signal: AbortSignal): Promise<void> {
    await served.setEnabled(true);
    runningLink = link;
    const revalidate = isFirst || link.protocol === 'file:';
    const { site, etag } = await acquire({
      link,
      pinnedVersion: version,
      state: served.state(),
      current: served.site(),
      revalidate,
      signal,
      onProgress(receivedBytes, totalBytes) {
        report.download = { receivedBytes, totalBytes: totalBytes ?? null };
      },
    });
    signal.throwIfAborted();
    isFirst = false;
    if (await served.swap(site, link, etag)) {
      const { manifest } = site;
      logger.info(
        { version: manifest.version, jobId: manifest.jobId, pages: manifest.pageCount },
        'Serving a new version',
      );
    }
  }

  function planRetry(error: unknown): void {
    // Only a change of the file fixes these, and it is watched.
    if (error instanceof ValuesFileError) return;
    failures += 1;
    const delayMs = retryDelayMs(error, failures, random(), pauses);
    report.nextTryAt = new Date(now().getTime() + delayMs).toISOString();
    retry = setTimeout(start, delayMs);
  }

  return {
    report: () => ({ ...report }),

    follow(next) {
      target = next;
      failures = 0;
      if (running === undefined) {
        start();
        return;
      }
      clearTimeout(grace);
      if (!isOn(next)) attempt.abort();
      else if (!isSameObject(next.wanted.link, runningLink))
        grace = setTimeout(() => attempt.abort(), supersedeGraceMs);
    },

    async stop() {
      stopped = true;
      clearTimeout(retry);
      clearTimeout(grace);
      attempt.abort();
      await running;
    },
  };
}

function isOn(target: Target): target is { kind: 'wanted'; wanted: WantedOn } {
  return target.kind === 'wanted' && target.wanted.enabled;
}

function isSameObject(link: URL, other: URL | undefined): boolean {
  return other !== undefined && resourceFingerprint(link) === resourceFingerprint(other);
}
