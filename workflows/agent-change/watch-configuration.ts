import { condition } from '@temporalio/workflow';
import { type ChangeRun, rereadRule } from './change-run.ts';
import { endBackOff } from './patience.ts';

/** Reads the configuration again whenever a worker announced itself: it may have a new one, a new key or new code. */
export async function watchConfiguration(run: ChangeRun): Promise<void> {
  for (;;) {
    await condition(() => run.configChanged);
    run.configChanged = false;
    await rereadRule(run);
    endBackOff(run.memory);
  }
}
