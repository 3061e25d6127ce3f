import { CancellationScope, condition } from '@temporalio/workflow';
import type { PinnedFile } from '../../contract/settings.ts';
import { waitForPinChange } from './activity-proxies.ts';
import type { SiteRun } from './site-run.ts';
import { adoptSwitch } from './targets.ts';

/**
 * While an operator's pin holds a deployment, or `enabled: false` switches it off, waits for that to change, so that the
 * newest version comes in then rather than at the next refresh. Sites that nobody holds cost nothing.
 */
export async function watchPins(run: SiteRun): Promise<void> {
  for (;;) {
    await condition(() => heldFiles(run).length > 0);
    const held = heldFiles(run);
    const key = JSON.stringify(held);
    const scope = new CancellationScope();
    try {
      const changed = await scope.run(() => {
        const files = held.map(({ valuesFile, pin, off }) => `${valuesFile} ${off ? 'off' : `at ${pin}`}`);
        const summary = `held by an operator: ${files.join(', ')}`;
        const waiting = waitForPinChange.executeWithOptions({ summary: summary.slice(0, 200) }, [held]);
        return Promise.race([waiting, condition(() => JSON.stringify(heldFiles(run)) !== key).then(() => [])]);
      });
      for (const switches of changed) adopt(run, switches);
    } finally {
      scope.cancel();
    }
  }
}

function heldFiles({ memory }: SiteRun): PinnedFile[] {
  return memory.targets
    .filter((target) => target.held || target.off)
    .map(({ valuesFile, pin, off }) => ({ valuesFile, pin, off }));
}

function adopt(run: SiteRun, { valuesFile, pin, off }: PinnedFile): void {
  const target = run.memory.targets.find((candidate) => candidate.valuesFile === valuesFile);
  if (target === undefined) return;
  adoptSwitch(run.memory, target, off);
  if (target.pin !== pin) {
    target.pin = pin?.slice(0, 200) ?? null;
    target.held = target.pin !== null;
  }
  run.refreshChanges++;
}
