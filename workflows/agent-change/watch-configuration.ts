import { condition } from '@temporalio/workflow';
import { type ChangeRun, rereadRule, settingsToCome } from './change-run.ts';
import { endBackOff } from './patience.ts';

/** Reads the configuration again when somebody says that it changed, and for as long as no worker knows the rule. */
export async function watchConfiguration(run: ChangeRun): Promise<void> {
  for (;;) {
    await condition(() => run.configChanged || run.memory.unconfigured !== null);
    if (!run.configChanged) {
      await settingsToCome(run);
      continue;
    }
    run.configChanged = false;
    await rereadRule(run);
    endBackOff(run.memory);
  }
}
