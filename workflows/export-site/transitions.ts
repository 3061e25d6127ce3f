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
import { comparableTime } from './older-job.ts';
import { addPublishes, addRequest, putBack } from './schedule.ts';
import type { Exporting, MutableState, Pending } from './state.ts';
import { type LiveJob, setLive } from './targets.ts';

/** The named changes of a site's state. Those of its deployments and links are in targets.ts, of its waits in back-off.ts. */

type MutableExporting = NonNullable<MutableState['exporting']>;
type CompletedExport = Exclude<FinishedExport, { status: 'failed' }>;

/** Keeps the time of the first failed read. */
export function reportUnconfigured(state: MutableState, message: string): void {
  state.unconfigured = { message, status: null, at: state.unconfigured?.at ?? new Date().toISOString() };
}

/** The configuration changed, which may have fixed the cause of any failure. */
export function retryAfterConfigChange(state: MutableState): void {
  endBackOff(state);
  for (const link of state.links) link.notBeforeMs = 0;
  for (const target of state.targets) target.searchedPin = null;
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
  state.pending = { ...addPublishes(state.pending, publishes, nowMs), ...traces };
  endBackOff(state);
}

/** A person or a lost bundle needs an export, without a quiet period. */
export function requestExport(state: MutableState, nowMs: number, request: NonNullable<Pending['request']>): void {
  state.pending = addRequest(state.pending, nowMs, request);
}

/** A bundle is gone, so only a new export brings a link. Requests one export per job. */
export function requestExportInsteadOf(state: MutableState, jobId: string, nowMs: number): void {
  if (state.live?.jobId !== jobId || state.refresh.goneJobId === jobId) return;
  state.refresh.goneJobId = jobId;
  requestExport(state, nowMs, { by: null, lostBundle: true });
}

export function takePending(state: MutableState, domain: string, nowMs: number): void {
  const { pending, cycle, attempt } = state;
  if (pending === null) return;
  exportBegan(state.histories, pending, nowMs);
  state.pending = null;
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

/** The job of the export becomes the newest one and the live one. */
export function deployExport(state: MutableState, exporting: MutableExporting, job: LiveJob, link: BundleLink): void {
  exporting.stage = 'deploying';
  endReview(state, 'replaced');
  deployNewest(state, job, link);
}

/** The held export becomes the newest job and the live one. */
export function deployReviewed(state: MutableState, job: LiveJob, link: BundleLink): void {
  endReview(state, 'deployed');
  deployNewest(state, job, link);
}

function deployNewest(state: MutableState, job: LiveJob, link: BundleLink): void {
  state.notServed = null;
  state.newest = job;
  setLive(state, job, link, false);
}

/** A deployment already has a newer job, which this reset or restored workflow doesn't know of. */
export function undoDeploy(state: MutableState, before: Pick<MutableState, 'live' | 'newest'>, jobId: string): void {
  state.live = before.live;
  state.newest = before.newest;
  olderJobReturned(state, jobId);
}

/** A guard holds the finished export. One that was held before it is out of date. */
export function holdForReview(state: MutableState, exporting: Exporting, reasons: readonly string[]): void {
  const { jobId, version, exportedAt, createdAt } = exporting;
  if (jobId === null) return;
  endReview(state, 'replaced');
  const at = new Date().toISOString();
  const texts = reasons.slice(0, 10).map((reason) => reason.slice(0, 500));
  state.review = { jobId, version, exportedAt: exportedAt ?? at, createdAt, at, reasons: texts, mails: [] };
}

/** The held export was rejected, or a newer export, an approval or a rollback made it pointless to ask. */
export function endReview(state: MutableState, outcome: 'replaced' | 'rejected' | 'canceled' | 'deployed'): void {
  if (state.review === null) return;
  reviewEnded(state.histories, state.review.jobId, outcome);
  state.review = null;
}

/** The export was deployed or is held, or a newer publish replaced it: then its publishes wait again. */
export function endExport(
  state: MutableState,
  exporting: Exporting,
  outcome: 'deployed' | 'replaced' | 'review',
): void {
  state.exporting = null;
  state.cycle++;
  state.attempt = 1;
  state.backOff = null;
  exportEnded(state.histories, outcome, { waiting: outcome === 'replaced' });
  if (outcome === 'replaced') state.pending = putBack(exporting.publishes, state.pending);
  else {
    state.exportError = null;
    state.olderJobId = null;
  }
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

export function endRefresh(state: MutableState, tookMs: number): void {
  state.refresh.tookMs = tookMs;
  state.refreshError = null;
  // The key works again, so the export needn't wait any longer.
  if (state.backOff?.keyRefused) endBackOff(state);
}

/** Drops the running export and everything published so far. */
export function dropExports(state: MutableState): void {
  exportEnded(state.histories, 'canceled', { waiting: false });
  waitingDropped(state.histories, 'a rollback dropped it');
  endReview(state, 'canceled');
  state.exporting = null;
  state.pending = null;
  state.backOff = null;
  state.exportError = null;
  state.attempt = 1;
  state.cycle++;
}

/** An earlier job becomes the live one. */
export function rollBackTo(state: MutableState, job: LiveJob, link: BundleLink): void {
  const { live } = state;
  if (live !== null && !live.rolledBack) {
    const { rolledBack: _, ...before } = live;
    state.newest ??= before;
  }
  setLive(state, job, link, true);
}

/** The automatic rollback of a version that wasn't served in time has ended; null: it failed or wasn't needed. */
export function rollbackTried(state: MutableState, version: string | null): void {
  if (state.notServed !== null) Object.assign(state.notServed, { tried: true, rolledBackTo: version });
}
