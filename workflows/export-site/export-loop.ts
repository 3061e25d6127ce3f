import { CancellationScope, condition, isCancellation, patched } from '@temporalio/workflow';
import { waitAtMost } from '../coroutines/wait-at-most.ts';
import { rereadSettings } from '../settings/read-settings.ts';
import { isResumable, readFailure, toSiteError } from '../trouble/failures.ts';
import { restMs } from '../trouble/rest.ts';
import { exportDueAtMs, putBack } from './debounce.ts';
import { beginBackOff, failuresWith } from './export-back-off.ts';
import { runExport } from './export-cycle.ts';
import type { Exporting } from './site-memory.ts';
import type { SiteRun } from './site-run.ts';
import { sourceOf } from './site-settings.ts';

/** Exports what was published, one export at a time, for as long as the run lasts. */
export async function exportLoop(run: SiteRun): Promise<void> {
  // An export that is under way when a pause comes is finished, also if another run takes over meanwhile.
  if (isFinishedInPause(run) && patched('finish-export-in-pause-2026-11')) await finishExport(run);
  for (;;) {
    await condition(() => hasWork(run));
    if (!(await backOffEnded(run))) continue;
    if (run.memory.exporting === null) {
      if (!(await rereadSettings(sourceOf(run)))) return;
      if (!(await burstEnded(run))) continue;
      beginExport(run);
    }
    await finishExport(run);
  }
}

function isFinishedInPause({ memory }: SiteRun): boolean {
  return memory.paused && memory.exporting !== null && memory.backOff?.waiting !== true;
}

function hasWork({ memory, removed }: SiteRun): boolean {
  return !removed && !memory.paused && (memory.exporting !== null || memory.pending !== null);
}

/** Waits out the back-off of the last failure. False where the work went away meanwhile. */
async function backOffEnded(run: SiteRun): Promise<boolean> {
  const { backOff } = run.memory;
  const waitMs = (backOff?.untilMs ?? 0) - Date.now();
  if (waitMs <= 0) return hasWork(run);
  const summary = `next try after: ${run.memory.exportError?.message ?? 'a failure'}`
    .replace(/\s+/g, ' ')
    .slice(0, 200);
  await waitAtMost(() => run.memory.backOff !== backOff || !hasWork(run), waitMs, summary);
  return false;
}

/** Waits for a burst of publishes to end. One timer stands for many publishes: it is looked at again when it fires. */
async function burstEnded(run: SiteRun): Promise<boolean> {
  const waits = (): boolean => hasWork(run) && run.memory.pending?.immediate === false;
  for (;;) {
    const { pending } = run.memory;
    if (pending === null || !hasWork(run)) return false;
    const dueAtMs = exportDueAtMs(pending, run.settings);
    const waitMs = dueAtMs - Date.now();
    if (waitMs <= 0) return true;
    // Publishes only put it off, which the timer finds out for itself; a changed configuration may bring it forward.
    const dueSooner = (): boolean =>
      run.memory.pending !== null && exportDueAtMs(run.memory.pending, run.settings) < dueAtMs;
    await waitAtMost(() => !waits() || dueSooner(), waitMs, 'quiet period after a publish');
  }
}

function beginExport(run: SiteRun): void {
  const { memory, settings } = run;
  const { pending, cycle, attempt } = memory;
  if (pending === null) return;
  memory.pending = null;
  memory.exporting = {
    cycle,
    attempt,
    domain: settings.domain,
    stage: 'starting',
    jobId: null,
    version: null,
    startedAtMs: Date.now(),
    exportedAt: null,
    publishes: pending,
    uncancellable: false,
    cancelling: false,
    idempotencyKey: null,
    createdAt: null,
  };
}

async function finishExport(run: SiteRun): Promise<void> {
  const { memory } = run;
  const { exporting } = memory;
  if (exporting === null) return;
  if (memory.backOff) memory.backOff = { ...memory.backOff, waiting: false };
  run.exportScope = new CancellationScope();
  try {
    const replaced = (await runExport(run, exporting, run.exportScope)) === 'replaced';
    if (memory.exporting !== exporting) return;
    memory.exporting = null;
    memory.cycle++;
    memory.attempt = 1;
    memory.backOff = null;
    if (replaced) memory.pending = putBack(exporting.publishes, memory.pending);
    else {
      memory.exportError = null;
      memory.olderJobId = null;
    }
  } catch (error) {
    // A rollback took the export away; the end of the run leaves it to the next one.
    if (memory.exporting !== exporting) return;
    if (isCancellation(error)) throw error;
    exportFailed(run, exporting, error);
  } finally {
    run.exportScope = null;
  }
}

function exportFailed({ memory }: SiteRun, exporting: Exporting, error: unknown): void {
  const failure = readFailure(error);
  memory.exportError = toSiteError(failure, Date.now());
  beginBackOff(memory, failure, Date.now(), restMs(failure, failuresWith(memory)));
  // Refused before it began, it takes in what is published meanwhile.
  if (isResumable(failure) && !(exporting.stage === 'starting' && failure.type !== 'Unavailable')) return;
  memory.exporting = null;
  memory.attempt = exporting.attempt + 1;
  memory.pending = putBack({ ...exporting.publishes, immediate: true }, memory.pending);
}
