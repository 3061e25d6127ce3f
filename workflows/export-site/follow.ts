import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import { rereadSettings } from '../entity/configuration.ts';
import { waitAtMost } from '../entity/coroutines.ts';
import { askDeployment, followProposal, withholdJob } from './ask.ts';
import { settingsSource } from './configuration.ts';
import { desiredVersion } from './desired-version.ts';
import { settleOutcomes } from './histories.ts';
import { type AskStep, type Facts, nextSteps, type WriteStep } from './next-steps.ts';
import { notifyServed } from './notifications.ts';
import { type Lane, lanesOf, type SiteRun } from './run.ts';
import { overdueProposal } from './schedule.ts';
import type { MutableDeployment } from './state.ts';
import { findPinnedJob, isLong, writeJob } from './write.ts';

/** A run that ends waits this long for long writes. The next one continues them from the files that they have. */
const DRAIN_MS = 30_000;

/**
 * Brings each deployment to what it should have, and keeps it there: after each change of the state it decides anew what to do
 * next for each of them. One timer serves all; nothing that happens to one deployment delays another.
 */
export async function followDeployments(run: SiteRun): Promise<void> {
  const timer = createTimer(run);
  let timerFired = false;
  for (;;) {
    const { changes } = run;
    const wakeMs = takeSteps(run, timerFired);
    notifyServed(run);
    settleOutcomes(run.state);
    timer.arm(wakeMs);
    await condition(() => run.changes !== changes || timer.hasFired());
    timerFired = timer.hasFired();
    // What is due is done with the present settings.
    if (timerFired && isWriteDue(run)) await rereadSettings(settingsSource(run));
    timer.reset();
  }
}

/** Begins what is to be done now. Returns when something is due next; infinite if nothing is. */
function takeSteps(run: SiteRun, timerFired: boolean): number {
  let wakeMs = Number.POSITIVE_INFINITY;
  if (run.draining) return wakeMs;
  for (const deployment of run.state.deployments) {
    const desired = desiredVersion(run.state, deployment);
    const { write, ask } = nextSteps(run.state, deployment, desired, factsOf(run, deployment, timerFired));
    takeWriteStep(run, deployment, write);
    takeAskStep(run, deployment, ask);
    if (write.do === 'wait') wakeMs = Math.min(wakeMs, write.untilMs);
    const { tellAtMs = 0 } = overdueProposal(deployment, run) ?? {};
    if (tellAtMs > Date.now()) wakeMs = Math.min(wakeMs, tellAtMs);
  }
  return wakeMs;
}

/** Not if a link was refreshed since the timer was set. */
function isWriteDue(run: SiteRun): boolean {
  const { state } = run;
  return state.deployments.some((each) => {
    const { write } = nextSteps(state, each, desiredVersion(state, each), factsOf(run, each, true));
    return write.do !== 'rest' && write.do !== 'wait';
  });
}

function factsOf(run: SiteRun, { place }: MutableDeployment, timerFired: boolean): Facts {
  const { site, settings } = run;
  const { write, ask } = lanesOf(run, place);
  return { site, nowMs: Date.now(), timerFired, write, ask, settings };
}

function takeWriteStep(run: SiteRun, deployment: MutableDeployment, step: WriteStep): void {
  if (step.do === 'rest' || step.do === 'wait') return;
  const lanes = lanesOf(run, deployment.place);
  // The next write begins when this one has ended.
  if (lanes.write !== null) lanes.write.scope.cancel();
  else if (step.do === 'find-pin')
    begin(run, deployment, 'write', { jobId: step.version, does: step.do }, () =>
      findPinnedJob(run, deployment, step.version),
    );
  else
    begin(run, deployment, 'write', { jobId: step.job.jobId, does: step.do }, (lane) =>
      writeJob(run, deployment, step, lane),
    );
}

function takeAskStep(run: SiteRun, deployment: MutableDeployment, step: AskStep): void {
  if (step.do === 'stop') lanesOf(run, deployment.place).ask?.scope.cancel();
  if (step.do === 'withhold') withholdJob(run, deployment, step);
  if (step.do === 'ask')
    begin(run, deployment, 'ask', { jobId: step.job.jobId, does: step.do }, () => askDeployment(run, deployment, step));
  if (step.do === 'follow-proposal') {
    begin(run, deployment, 'ask', { jobId: step.jobId, does: step.do }, () => followProposal(run, deployment));
  }
}

/** Runs a step in its lane. Its failures are in the state; any other error is a bug, which fails the workflow task. */
function begin(
  run: SiteRun,
  { place }: MutableDeployment,
  name: 'write' | 'ask',
  what: Pick<Lane, 'jobId' | 'does'>,
  step: (lane: Lane) => Promise<void>,
): void {
  const lanes = lanesOf(run, place);
  const lane: Lane = { ...what, scope: new CancellationScope(), stage: 'preparing' };
  lanes[name] = lane;
  const ended = lane.scope
    .run(() => step(lane))
    .catch((error: unknown) => {
      if (!isCancellation(error)) run.bug ??= error;
    });
  void ended.then(() => {
    if (lanes[name] === lane) lanes[name] = null;
    run.changes++;
  });
}

/** One timer for all that is due. It is set anew only if something is due earlier: each timer costs events. */
function createTimer(run: SiteRun) {
  let atMs = Number.POSITIVE_INFINITY;
  let scope: CancellationScope | null = null;
  let fired = false;

  async function wait(waitMs: number): Promise<void> {
    await sleep(Math.max(Math.ceil(waitMs), 1), { summary: `next refresh of a link of ${run.site}` });
    fired = true;
    scope = null;
  }

  return {
    hasFired: () => fired,
    reset(): void {
      if (fired) atMs = Number.POSITIVE_INFINITY;
      fired = false;
    },
    arm(nextMs: number): void {
      if (nextMs >= atMs) return;
      scope?.cancel();
      atMs = nextMs;
      scope = new CancellationScope();
      scope
        .run(() => wait(atMs - Date.now()))
        .catch((error: unknown) => {
          if (!isCancellation(error)) run.bug ??= error;
        });
    },
  };
}

/**
 * Before a run ends: nothing new begins, questions end, quick writes are awaited, and long ones are canceled, at once if the
 * site was removed.
 */
export async function drainDeployments(run: SiteRun, mustEnd: () => boolean): Promise<void> {
  await condition(mustEnd);
  run.draining = true;
  const writes = (): Lane[] => [...run.lanes.values()].flatMap(({ write }) => (write === null ? [] : [write]));
  for (const { ask } of run.lanes.values()) ask?.scope.cancel();
  for (const { stage, scope } of writes()) if (stage === 'preparing') scope.cancel();
  const isDone = (): boolean => writes().length === 0;
  if (!run.removed && !isDone()) await waitAtMost(isDone, DRAIN_MS, 'writes before the run ends');
  for (const [place, { write }] of run.lanes) if (write !== null && isLong(run, place)) write.scope.cancel();
}
