import type { Logger } from 'pino';
import { BundleUnavailableError } from '../../bundle/errors.ts';
import { linkLabel, resourceFingerprint } from '../../bundle/fetch/link.ts';
import { problemMessage, ValuesReadError } from '../errors.ts';
import type { Wanted } from '../values/values.ts';
import type { ValuesState } from '../values/watch-values.ts';
import type { Acquired, AcquireRequest } from './acquire-bundle.ts';
import { linkRetryDelayMs, type RetryPauses } from './retry-delay.ts';
import type { Served } from './served.ts';

type WantedOn = Extract<Wanted, { enabled: true }>;

type FollowerDeps = {
  served: Served;
  acquire(request: AcquireRequest): Promise<Acquired>;
  pauses: RetryPauses;
  /** How long a download may continue after the values file asks for another object, in milliseconds. */
  supersedeGraceMs: number;
  now: () => Date;
  random: () => number;
  /** The served version has changed. */
  onSwap?(): void;
  logger: Logger;
};

export type FollowerReport = {
  problem: { message: string; status: number | null; at: string } | null;
  checkedAt: string | null;
  nextTryAt: string | null;
  download: { receivedBytes: number; totalBytes: number | null } | null;
  waiting: { for: string; since: string } | null;
};

/**
 * Makes the deployment serve what the values file asks for: one attempt at a time, the newest values next, with
 * retries. A changed values file doesn't end a download immediately, because links that are refreshed faster than a bundle
 * downloads would never let it finish.
 */
export class Follower {
  readonly #deps: FollowerDeps;
  readonly #report: FollowerReport = {
    problem: null,
    checkedAt: null,
    nextTryAt: null,
    download: null,
    waiting: null,
  };
  #values: ValuesState | undefined;
  #running: Promise<void> | undefined;
  #runningLink: URL | undefined;
  #attempt = new AbortController();
  #grace: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  /** Until the link has been requested once since the start, the versions on the disk prove nothing about it. */
  #isFirst = true;
  #stopped = false;

  constructor(deps: FollowerDeps) {
    this.#deps = deps;
  }

  report(): FollowerReport {
    return { ...this.#report };
  }

  /** Passes on what the values file asks for; acted on immediately or after the current attempt. */
  follow(values: ValuesState): void {
    this.#values = values;
    this.#failures = 0;
    if (this.#running === undefined) {
      this.#start();
      return;
    }
    clearTimeout(this.#grace);
    if (!isOn(values)) this.#attempt.abort();
    else if (!isSameObject(values.wanted.link, this.#runningLink))
      this.#grace = setTimeout(() => this.#attempt.abort(), this.#deps.supersedeGraceMs);
  }

  /** Ends the current attempt; resolves when nothing is written any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#grace);
    this.#attempt.abort();
    await this.#running;
  }

  #start(): void {
    clearTimeout(this.#retry);
    this.#report.nextTryAt = null;
    if (this.#stopped || this.#running !== undefined || this.#values === undefined) return;
    const tried = this.#values;
    this.#attempt = new AbortController();
    this.#running = this.#tryOnce(tried, this.#attempt.signal).then((error) => {
      clearTimeout(this.#grace);
      this.#running = undefined;
      this.#report.download = null;
      this.#report.waiting = null;
      if (this.#stopped) return;
      if (tried !== this.#values) {
        this.#start();
      } else if (error !== undefined) {
        this.#planRetry(error);
      }
    });
  }

  async #tryOnce(tried: ValuesState, signal: AbortSignal): Promise<unknown> {
    const { served, now, logger } = this.#deps;
    try {
      if (tried.kind === 'unreadable') throw tried.error;
      if (tried.wanted.enabled) await this.#serve(tried.wanted, signal);
      else await served.setEnabled(false);
      this.#report.checkedAt = now().toISOString();
      this.#report.problem = null;
      this.#failures = 0;
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      const status = error instanceof BundleUnavailableError ? error.status : null;
      const message = problemMessage(error);
      this.#report.problem = { message, status, at: now().toISOString() };
      if (error instanceof ValuesReadError && error.isMissing) logger.info(`Waiting for the first deploy: ${message}`);
      else logger.warn({ status }, `Not updated: ${message}`);
      return error;
    }
  }

  async #serve({ link, version, publicKey, integrity }: WantedOn, signal: AbortSignal): Promise<void> {
    const { served, acquire, logger } = this.#deps;
    await served.setEnabled(true);
    this.#runningLink = link;
    this.#waitFor(`a response of ${linkLabel(link)}`);
    const revalidate = this.#isFirst || link.protocol === 'file:';
    const { site, etag } = await acquire({
      link,
      pinnedVersion: version,
      required: { publicKey, integrity },
      state: served.state(),
      current: served.site(),
      revalidate,
      signal,
      onProgress: (receivedBytes, totalBytes) => {
        this.#report.download = { receivedBytes, totalBytes: totalBytes ?? null };
        const isWhole = receivedBytes === totalBytes;
        this.#waitFor(isWhole ? 'the bundle to be stored' : `more of the bundle from ${linkLabel(link)}`);
      },
    });
    signal.throwIfAborted();
    this.#isFirst = false;
    if (await served.swap(site, link, etag)) {
      const { manifest } = site;
      this.#deps.onSwap?.();
      logger.info(
        { version: manifest.version, jobId: manifest.jobId, pages: manifest.pageCount },
        'Serving a new version',
      );
      const ignored = manifest.foreign?.ignored ?? [];
      if (ignored.length > 0) logger.warn({ ignored }, 'Some rules of the bundle are not honored');
    }
  }

  #waitFor(what: string): void {
    this.#report.waiting = { for: what, since: this.#deps.now().toISOString() };
  }

  #planRetry(error: unknown): void {
    // Only a change of the file fixes these, and it is watched.
    if (error instanceof ValuesReadError) return;
    const { pauses, now, random } = this.#deps;
    this.#failures += 1;
    const delayMs = linkRetryDelayMs(error, this.#failures, random(), pauses);
    this.#report.nextTryAt = new Date(now().getTime() + delayMs).toISOString();
    this.#retry = setTimeout(() => this.#start(), delayMs);
  }
}

function isOn(values: ValuesState): values is { kind: 'wanted'; wanted: WantedOn } {
  return values.kind === 'wanted' && values.wanted.enabled;
}

function isSameObject(link: URL, other: URL | undefined): boolean {
  return other !== undefined && resourceFingerprint(link) === resourceFingerprint(other);
}
