import { condition } from '@temporalio/workflow';
import { endBackOff } from './export-back-off.ts';
import { rereadSettings, type SiteRun, settingsToCome } from './site-run.ts';

/** Reads the configuration again when somebody says that it changed, and for as long as no worker knows the site. */
export async function watchConfiguration(run: SiteRun): Promise<void> {
  const { build } = run.settings;
  for (;;) {
    await condition(() => run.configChanged || run.memory.unconfigured !== null);
    if (!run.configChanged) {
      await settingsToCome(run);
      continue;
    }
    run.configChanged = false;
    if (!(await rereadSettings(run))) return;
    // Only workers of releases before 0.2 tell their build.
    run.buildChanged = run.settings.build !== undefined && build !== undefined && run.settings.build !== build;
    endBackOff(run.memory);
    for (const link of run.memory.links) link.notBeforeMs = 0;
    for (const target of run.memory.targets) target.searchedPin = null;
    run.refreshChanges++;
  }
}
