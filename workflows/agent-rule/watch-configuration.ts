import { condition } from '@temporalio/workflow';
import { type RuleRun, rereadRule } from './rule-run.ts';

/** Reads the configuration again whenever a worker announced itself: it may have a new one, or new code. */
export async function watchConfiguration(run: RuleRun): Promise<void> {
  for (;;) {
    await condition(() => run.configChanged);
    run.configChanged = false;
    if ((await rereadRule(run)) === null) return;
  }
}
