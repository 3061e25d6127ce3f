import { condition } from '@temporalio/workflow';
import { type RuleRun, rereadRule, settingsToCome } from './rule-run.ts';

/** Reads the configuration again when somebody says that it changed, and for as long as no worker knows the rule. */
export async function watchConfiguration(run: RuleRun): Promise<void> {
  for (;;) {
    await condition(() => run.configChanged || run.memory.unconfigured !== null);
    if (!run.configChanged) {
      await settingsToCome(run);
      continue;
    }
    run.configChanged = false;
    if (!(await rereadRule(run))) return;
  }
}
