import type { BundleLink } from '../../activities/admin-api/create-bundle.ts';
import type { FinishedExport } from '../../activities/admin-api/poll-export.ts';
import type { StartedExport } from '../../activities/admin-api/start-export.ts';
import type { PublishedSignal } from '../../contract/publish-event.ts';
import { HISTORY_LIMITS } from '../../contract/site-state.ts';
import { cutEvent } from '../deliveries/cut-event.ts';
import type { SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { createWaitingBodies } from '../deliveries/waiting-bodies.ts';
import { type Failure, isRetryable, toSiteError } from '../failures/read-failure.ts';
import { addTraces } from '../tracing/span.ts';
import { endBackOff, startBackOff } from './back-off.ts';
import {
  deliveryArrived,
  exportBegan,
  exportContinued,
  exportEnded,
  exportHindered,
  reviewEnded,
  waitingDropped,
} from './histories.ts';
import { jobExported } from './jobs.ts';
import { comparableTime } from './older-job.ts';
import { addPublishes, addRequest, oldestPublishMs, putBack } from './schedule.ts';
import type { Exporting, Job, MutableState, Pending } from './state.ts';

/**
 * The named changes of a site's publishes and exports. Those of its deployments are in deployments.ts, of its jobs in jobs.ts,
 * of its waits in back-off.ts.
 */

type MutableExporting = NonNullable<MutableState['exporting']>;
type CompletedExport = Exclude<FinishedExport, { status: 'failed' }>;

/** Keeps the time of the first failed read. */
export function reportUnconfigured(state: MutableState, message: string): void {
  state.unconfigured = { message, status: null, at: state.unconfigured?.at ?? new Date().toISOString() };
}

/** The configuration changed, which may have fixed the cause of any failure. */
export function retryAfterConfigChange(state: MutableState): void {
  endBackOff(state);
  for (const trouble of Object.values(state.linkTrouble)) trouble.notBeforeMs = 0;
  for (const deployment of state.deployments) deployment.pinSearch = null;
}

export function setPaused(state: MutableState, paused: boolean): void {
  state.paused = paused;
}

/** Adds deliveries to what waits to be exported and ends a back-off. Resends are only listed. */
export function applyDeliveries(
  state: MutableState,
  seen: SeenDeliveries,
  signal: PublishedSignal,
  nowMs: number,
): void {
  let count = 0;
  const bodies = createWaitingBodies(state.pending?.bodies ?? []);
  // A signal has the whole event of its newest delivery only.
  const newest = signal.deliveries.at(-1);
  const firstListed = signal.deliveries.length - HISTORY_LIMITS.deliveries;
  for (const [index, delivery] of signal.deliveries.entries()) {
    const receivedMs = Date.parse(delivery.receivedAt);
    const atMs = Number.isNaN(receivedMs) ? nowMs : receivedMs;
    const resend = delivery.byBody ? !bodies.add(delivery) : seen.isResend(delivery, atMs);
    const outcome = resend ? 'duplicate' : state.pending === null && count === 0 ? 'started' : 'coalesced';
    if (!resend) count++;
    if (index < firstListed) continue;
    deliveryArrived(state.histories, delivery, outcome, delivery === newest ? signal.newest : null);
  }
  if (count === 0) return;
  const publishes = { count, newest: cutEvent(signal.newest), bodies: bodies.hashes() };
  const traces = addTraces(
    state.pending?.traces,
    signal.deliveries.map(({ traceparent }) => traceparent),
  );
  state.accepted += count;
  state.pending = { ...addPublishes(state.pending, publishes, nowMs), ...traces };
  endBackOff(state);
}

/** A person or a lost bundle needs an export, without a quiet period. */
export function requestExport(state: MutableState, nowMs: number, request: NonNullable<Pending['request']>): void {
  state.accepted++;
  state.pending = addRequest(state.pending, nowMs, request);
}

export function takePending(state: MutableState, domain: string, nowMs: number): void {
  const { pending, cycle, attempt } = state;
  if (pending === null) return;
  exportBegan(state.histories, pending, nowMs);
  state.pending = null;
  state.startWait = null;
  state.exporting = {
    cycle,
    attempt,
    domain,
    stage: 'starting',
    jobId: null,
    version: null,
    startedAtMs: nowMs,
    exportedAt: null,
    publishes: pending,
    upTo: state.accepted,
    uncancellable: false,
    cancelling: false,
    idempotencyKey: null,
    createdAt: null,
  };
}

/** Returns false if these publishes were reported before. */
export function publishesReported(state: MutableState, lastAtMs: number): boolean {
  if (lastAtMs <= state.reportedPublishMs) return false;
  state.reportedPublishMs = lastAtMs;
  return true;
}

export function setIdempotencyKey(exporting: MutableExporting, key: string): void {
  exporting.idempotencyKey = key;
}

export function jobStarted(state: MutableState, exporting: MutableExporting, job: StartedExport): void {
  exporting.jobId = job.jobId;
  exporting.version = job.version;
  state.form = job.form ?? state.form;
  exporting.createdAt = comparableTime(state, job);
  exporting.stage = 'polling';
  exportContinued(state.histories, { jobId: job.jobId, version: job.version });
}

export function olderJobReturned(state: MutableState, jobId: string): void {
  state.olderJobId = jobId;
}

export function cancelRequested(exporting: MutableExporting): void {
  exporting.cancelling = true;
}

/** The service can't cancel the job, so it is exported to its end. */
export function cancelRefused(exporting: MutableExporting): void {
  exporting.cancelling = false;
  exporting.uncancellable = true;
}

export function jobFinished(
  state: MutableState,
  exporting: MutableExporting,
  { version, exportedAt, pageCount }: CompletedExport,
): void {
  exporting.version = version ?? exporting.version;
  exporting.exportedAt = exportedAt ?? new Date().toISOString();
  exporting.stage = 'bundling';
  exportContinued(state.histories, {
    version: exporting.version,
    exportedAt: exporting.exportedAt,
    pageCount: toWhole(pageCount),
  });
}

export function bundleCreated(state: MutableState, exporting: MutableExporting, { version }: BundleLink): void {
  exporting.version = version ?? exporting.version;
  exportContinued(state.histories, { version: exporting.version });
}

/** The number comes from the service. */
function toWhole(count: number | null): number | null {
  return Number.isSafeInteger(count) ? count : null;
}

/** A guard holds the finished export. One that was held before it is out of date. */
export function holdForReview(state: MutableState, job: Job, reasons: readonly string[]): void {
  endReview(state, 'superseded');
  const at = new Date().toISOString();
  const texts = reasons.slice(0, 10).map((reason) => reason.slice(0, 500));
  state.review = { ...job, at, reasons: texts };
  endExport(state, 'held');
}

/** Deployments may get the finished export. */
export function releaseExport(state: MutableState, job: Job): void {
  endReview(state, 'superseded');
  jobExported(state, job);
  endExport(state, null);
}

/** The held export was approved. */
export function releaseReview(state: MutableState): void {
  const { review } = state;
  if (review === null) return;
  const { at: _, reasons: __, ...job } = review;
  endReview(state, null);
  jobExported(state, job);
}

/** The held export was approved (null) or rejected, or a newer export or a rollback made it pointless to ask. */
export function endReview(state: MutableState, outcome: 'superseded' | 'rejected' | 'canceled' | null): void {
  if (state.review === null) return;
  reviewEnded(state.histories, state.review.jobId, outcome);
  state.review = null;
}

/** The job of a finished export. */
export function exportedJob({ jobId, version, domain, createdAt, exportedAt, upTo, publishes }: Exporting): Job {
  if (jobId === null) throw new Error('a finished export without a job');
  const [trace] = publishes.traces ?? [];
  const order = { upTo, oldestPublishMs: oldestPublishMs(publishes), ...(trace !== undefined && { trace }) };
  return { jobId, version, domain, createdAt, exportedAt, ...order };
}

/** The export is done: null if deployments may get it, `held` if a guard holds it. */
function endExport(state: MutableState, outcome: 'held' | null): void {
  nextCycle(state);
  state.exportError = null;
  state.olderJobId = null;
  exportEnded(state.histories, outcome, { waiting: false });
}

/** A newer publish replaces the export: its publishes wait again. */
export function replaceExport(state: MutableState, exporting: Exporting): void {
  nextCycle(state);
  exportEnded(state.histories, 'superseded', { waiting: true });
  state.pending = putBack(exporting.publishes, state.pending);
}

function nextCycle(state: MutableState): void {
  state.exporting = null;
  state.cycle++;
  state.attempt = 1;
  state.backOff = null;
}

/**
 * Starts the back-off. After a retryable failure the same export continues, otherwise its publishes wait for a new one.
 * @param retryAfterMs see retry/retry-after.ts
 */
export function recordExportFailure(
  state: MutableState,
  exporting: Exporting,
  failure: Failure,
  nowMs: number,
  retryAfterMs: number,
): void {
  state.exportError = toSiteError(failure, nowMs);
  exportHindered(state.histories, failure.message);
  startBackOff(state, failure, nowMs, retryAfterMs);
  // An export that was refused before it began includes what is published meanwhile.
  if (isRetryable(failure) && !(exporting.stage === 'starting' && failure.type !== 'Unavailable')) return;
  exportEnded(state.histories, 'failed', { waiting: true });
  state.exporting = null;
  state.attempt = exporting.attempt + 1;
  state.pending = putBack({ ...exporting.publishes, immediate: true }, state.pending);
}

/** Drops the running export and everything that was published before the command. */
export function dropExports(state: MutableState, upTo: number): void {
  state.settled = Math.max(state.settled, upTo);
  if (state.review !== null && state.review.upTo <= upTo) endReview(state, 'canceled');
  const { exporting } = state;
  if (exporting !== null && exporting.upTo <= upTo) {
    exportEnded(state.histories, 'canceled', { waiting: false });
    nextCycle(state);
    state.exportError = null;
  }
  // Otherwise something was published since, and its export includes the rest.
  if (state.accepted > upTo) return;
  waitingDropped(state.histories, 'a rollback dropped it');
  state.pending = null;
}
