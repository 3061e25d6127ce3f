import {
  ActivityCancellationType,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { formatDurationMs } from '../../contract/duration.ts';
import { CONFIRM_WITHIN_MS } from '../../contract/export-defaults.ts';
import { failureReason, readFailure } from '../failures/read-failure.ts';
import { inPool, retryPolicy } from '../retry/activity-timeouts.ts';
import { confirmLate, confirmServed, jobBefore, unconfirmedTargets } from './confirmations.ts';
import { actionBegan, actionFailed, jobServed } from './histories.ts';
import { notifyServed } from './notifications.ts';
import { rollBackIf } from './rollback.ts';
import type { SiteRun } from './run.ts';
import type { SiteDeployment } from './state.ts';
import { rollbackTried } from './transitions.ts';

/** Polls a deployment by its retry policy: that needs no history and no worker slot, however long it takes. */
const { confirmDeployment } = proxyActivities<Activities>({
  ...inPool('status'),
  startToCloseTimeout: '20s',
  retry: retryPolicy,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** The actor of an automatic rollback. */
const GALLEY = 'Galley';

/**
 * Asks deployments until they serve what was written. A newer export, a pin or a switch ends it. Deployments that are
 * late are still asked, because they may come round.
 */
export async function confirmLoop(run: SiteRun): Promise<void> {
  const waitingNow = (): string => JSON.stringify(unconfirmedTargets(run.state).map(nameOf));
  for (;;) {
    await condition(() => unconfirmedTargets(run.state).length > 0);
    const waiting = unconfirmedTargets(run.state);
    const names = waitingNow();
    const scope = new CancellationScope();
    try {
      await scope.run(() =>
        Promise.race([
          Promise.all(waiting.map((target) => confirm(run, target))),
          // One that is confirmed leaves the list: the others begin again, which costs one more question.
          condition(() => waitingNow() !== names),
        ]),
      );
    } finally {
      scope.cancel();
    }
  }
}

function nameOf({ valuesFile, confirmation }: SiteDeployment): string {
  return `${valuesFile} ${confirmation?.jobId}`;
}

async function confirm(run: SiteRun, target: SiteDeployment): Promise<void> {
  const { state, site } = run;
  const { confirmation, valuesFile } = target;
  if (confirmation === null) return;
  const { jobId } = confirmation;
  const version = state.live?.version ?? null;
  const input = { site, valuesFile, jobId, version };
  const summary = `until ${version ?? jobId} is served from ${valuesFile}`.slice(0, 200);
  const { withinMs, rollback } = settingsOf(run, valuesFile);
  if (!confirmation.late) {
    const leftMs = Math.max(confirmation.sinceMs + withinMs - Date.now(), 1);
    try {
      await confirmDeployment.executeWithOptions({ summary, scheduleToCloseTimeout: leftMs }, [input]);
      return served(run, target);
    } catch (error) {
      if (isCancellation(error)) throw error;
      const why = failureReason(error, 'no response in time');
      confirmLate(state, target, `${version ?? jobId} wasn't served within ${formatDurationMs(withinMs)}: ${why}`);
    }
  }
  await rollBackLate(run, rollback);
  await confirmDeployment.executeWithOptions({ summary }, [input]);
  served(run, target);
}

function served(run: SiteRun, target: SiteDeployment): void {
  const at = new Date().toISOString();
  confirmServed(run.state, target, at);
  if (target.confirmation !== null) jobServed(run.state.histories, target.confirmation.jobId, at);
  notifyServed(run);
}

/** Once, and never what a rollback deployed. What was published since replaces the late version anyway. */
async function rollBackLate(run: SiteRun, allowed: boolean): Promise<void> {
  const { state } = run;
  const late = state.live;
  const before = jobBefore(state);
  const holds = (): boolean => state.live === late && state.pending === null && state.exporting === null;
  if (late === null || run.rollingBack || state.notServed?.tried) return;
  if (!allowed || late.rolledBack || before === undefined || !holds()) return rollbackTried(state, null);
  // Several deployments may be late, and this wait may begin again meanwhile.
  run.rollingBack = true;
  const action = actionBegan(state.histories, { action: 'rollback', actor: GALLEY, detail: before.version });
  // Not a part of this wait, which the rollback ends.
  await CancellationScope.nonCancellable(async () => {
    try {
      const done = await rollBackIf(run, before.jobId, holds);
      if (!done) actionFailed(action, 'something newer was published');
      rollbackTried(state, done ? before.version : null);
    } catch (error) {
      actionFailed(action, readFailure(error).message);
      rollbackTried(state, null);
    } finally {
      run.rollingBack = false;
    }
  });
}

function settingsOf({ settings }: SiteRun, valuesFile: string): { withinMs: number; rollback: boolean } {
  const found = settings.confirmations.find((each) => each.valuesFile === valuesFile);
  return found ?? { withinMs: CONFIRM_WITHIN_MS, rollback: false };
}
