import { condition } from '@temporalio/workflow';
import { waitAtMost } from '../coroutines/wait-at-most.ts';
import { rereadSettings } from '../settings/read-settings.ts';
import { dueOf } from './due.ts';
import { type RuleRun, sourceOf } from './rule-run.ts';
import { startChange } from './start-change.ts';

/** Starts a change for what was collected, whenever it is due, for as long as the run lasts. */
export async function promptLoop(run: RuleRun): Promise<void> {
  for (;;) {
    await condition(() => run.memory.waiting !== null && !run.removed);
    if (!(await rereadSettings(sourceOf(run)))) return;
    // What was collected waits for a worker that knows the rule.
    if (run.settings === null) await condition(() => run.settings !== null);
    if (await becameDue(run)) await startChange(run);
  }
}

/** Waits until what was collected is due. False where nothing is left of it. */
async function becameDue(run: RuleRun): Promise<boolean> {
  for (;;) {
    const due = dueOfRun(run);
    if (due === null || run.removed) return false;
    const waitMs = due.atMs - Date.now();
    if (waitMs <= 0) return true;
    // Events only put it off, which the timer finds out for itself; a changed configuration may bring it forward.
    const sooner = (): boolean => run.removed || (dueOfRun(run)?.atMs ?? Number.NEGATIVE_INFINITY) < due.atMs;
    const summary = due.limited
      ? 'maxPerHour is reached: until the next change may start'
      : 'quiet period after an event';
    await waitAtMost(sooner, waitMs, summary);
  }
}

/** Null where nothing waits. */
export function dueOfRun({ memory, settings }: RuleRun): ReturnType<typeof dueOf> | null {
  if (memory.waiting === null || settings === null) return null;
  return dueOf(memory.waiting, memory.startsMs, settings);
}
