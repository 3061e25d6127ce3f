import { condition, defineSignal, patched, proxyActivities, setHandler } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import { SIGNALS } from '../../contract/names.ts';
import type { StartOutcome } from '../../contract/start-gate.ts';
import { quickActivity } from '../retry/activity-timeouts.ts';
import type { SiteRun } from './run.ts';

const { messageGate } = proxyActivities<Activities>(quickActivity);

const startGranted = defineSignal(SIGNALS.startGranted);

export function handleGrants({ state }: SiteRun): void {
  setHandler(
    startGranted,
    () => {
      if (state.startWait !== null) state.startWait.granted = true;
    },
    { description: 'The site may start one export.' },
  );
}

/** Whether a limit of starts is known. `patched` is only asked then, so that other histories don't change. */
function isGated({ state, settings }: SiteRun): boolean {
  return (settings.startsPerHour !== undefined || state.startsLimited) && patched('start-gate-2026-11');
}

/**
 * Waits for a start that the limit allows; what is published meanwhile is part of the same export. Returns false if the work has
 * to be checked again.
 */
export async function waitForStart(run: SiteRun, hasWork: () => boolean): Promise<boolean> {
  if (!isGated(run)) return true;
  const { state, site, settings } = run;
  for (;;) {
    if (!hasWork() || state.pending === null) {
      if (state.startWait !== null) await endWait(run, 'withdrawn');
      return false;
    }
    if (state.startWait?.granted === true) return true;
    const byPerson = state.pending.request !== null && !state.pending.request.lostBundle;
    if (state.startWait?.byPerson !== byPerson) {
      state.startWait = { byPerson, granted: false };
      const payload = {
        site,
        byPerson,
        oldestAtMs: state.pending.oldestAtMs,
        startsPerHour: settings.startsPerHour ?? null,
      };
      await messageGate.executeWithOptions({ summary: 'ask for a start' }, [{ signal: 'requested', payload }]);
    }
    const isStillSo = (): boolean => {
      const request = state.pending?.request ?? null;
      return hasWork() && (request !== null && !request.lostBundle) === byPerson;
    };
    await condition(() => state.startWait?.granted === true || !isStillSo());
  }
}

/** The site has its start, or needs none. */
async function endWait(run: SiteRun, outcome: StartOutcome['outcome']): Promise<void> {
  run.state.startWait = null;
  await reportStart(run, outcome);
}

/** Reports what became of a start, if a limit is known. */
export async function reportStart(run: SiteRun, outcome: StartOutcome['outcome']): Promise<void> {
  if (outcome === 'limited') run.state.startsLimited = true;
  // With a known limit, the gate doesn't wait for a success.
  if ((outcome === 'started' && run.settings.startsPerHour !== undefined) || !isGated(run)) return;
  const payload = { site: run.site, outcome };
  await messageGate.executeWithOptions({ summary: `the start: ${outcome}` }, [{ signal: 'ended', payload }]);
}
