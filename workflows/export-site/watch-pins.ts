import { CancellationScope, condition } from '@temporalio/workflow';
import { waitForPinChange } from './activity-proxies.ts';
import type { SiteRun } from './site-run.ts';

/**
 * While an operator's pin holds a deployment, waits for the pin to change, so that the newest version comes in when it
 * goes rather than at the next refresh. Sites that nobody holds cost nothing.
 */
export async function watchPins(run: SiteRun): Promise<void> {
  for (;;) {
    await condition(() => heldFiles(run).length > 0);
    const held = heldFiles(run);
    const key = JSON.stringify(held);
    const scope = new CancellationScope();
    try {
      const changed = await scope.run(() => {
        const summary = `held by a pin: ${held.map(({ valuesFile, pin }) => `${valuesFile} at ${pin}`).join(', ')}`;
        const waiting = waitForPinChange.executeWithOptions({ summary: summary.slice(0, 200) }, [held]);
        return Promise.race([waiting, condition(() => JSON.stringify(heldFiles(run)) !== key).then(() => [])]);
      });
      for (const { valuesFile, pin } of changed) adoptPin(run, valuesFile, pin);
    } finally {
      scope.cancel();
    }
  }
}

function heldFiles({ memory }: SiteRun): { valuesFile: string; pin: string | null }[] {
  return memory.targets.filter((target) => target.held).map(({ valuesFile, pin }) => ({ valuesFile, pin }));
}

function adoptPin(run: SiteRun, valuesFile: string, pin: string | null): void {
  const target = run.memory.targets.find((candidate) => candidate.valuesFile === valuesFile);
  if (target === undefined) return;
  target.pin = pin?.slice(0, 200) ?? null;
  target.held = target.pin !== null;
  run.refreshChanges++;
}
