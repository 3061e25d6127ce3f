import { condition } from '@temporalio/workflow';
import { endBackOff } from './export-back-off.ts';
import { rereadSettings, type SiteRun } from './site-run.ts';

/** Reads the configuration again whenever a worker announced itself: it may have a new one, a new key or new code. */
export async function watchConfiguration(run: SiteRun): Promise<void> {
  const { build } = run.settings;
  for (;;) {
    await condition(() => run.configChanged);
    run.configChanged = false;
    if (!(await rereadSettings(run))) return;
    run.buildChanged = run.settings.build !== build;
    endBackOff(run.memory);
    for (const link of run.memory.links) link.notBeforeMs = 0;
    for (const target of run.memory.targets) target.searchedPin = null;
    run.refreshChanges++;
  }
}
