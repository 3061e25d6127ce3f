import { type ActivityOptions, CancellationScope, condition, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import type { PinnedFile } from '../../contract/settings.ts';
import { TARGETS } from '../../contract/target-kind.ts';
import { inPoolOf, quickActivity } from '../retry/activity-timeouts.ts';
import { adoptSwitches } from './deployments.ts';
import type { SiteRun } from './run.ts';
import type { Deployment, State } from './state.ts';
import { isLocalFile } from './write.ts';

/** Polls by its retry policy: that needs no history and no worker slot, however long a pin stays. */
const { waitForPinChange } = proxyActivities<Activities>(quickActivity);

/** A repository or a cluster takes longer than a file. */
const REMOTE_TIMEOUT = '30s';

/**
 * Adopts what operators set in deployments. Pins in local values files are announced by the workers that watch them
 * (worker/announce-pins.ts), so those files are asked only while they are held or off. Others are always asked.
 */
export async function watchPins(run: SiteRun): Promise<void> {
  for (;;) {
    await condition(() => watched(run.state).length > 0);
    const key = keyOf(run.state);
    const scope = new CancellationScope();
    try {
      const changed = await scope.run(() => {
        const waiting = groupsOf(run.state).map((group) => untilPinChange(run, group));
        const other = condition(() => keyOf(run.state) !== key);
        return Promise.race([...waiting, other.then(() => [])]);
      });
      for (const pin of changed) if (adoptSwitches(run.state, pin)) run.changes++;
    } finally {
      scope.cancel();
    }
  }
}

function untilPinChange({ site }: SiteRun, group: readonly Deployment[]): Promise<PinnedFile[]> {
  const [{ kind, host } = { kind: 'valuesFile' as const, host: null }] = group;
  const pins = group.map(({ place: valuesFile, pin, off }) => ({ valuesFile, pin, off }));
  const names = pins.map(
    ({ valuesFile, pin, off }) => `${valuesFile} ${off ? 'off' : pin === null ? 'free' : `at ${pin}`}`,
  );
  const options: ActivityOptions = {
    summary: `until an operator changes ${names.join(', ')}`.slice(0, 200),
    ...(kind !== 'valuesFile' && { startToCloseTimeout: REMOTE_TIMEOUT }),
    ...inPoolOf({ kind, host }),
  };
  return waitForPinChange.executeWithOptions(options, group.every(isLocalFile) ? [pins] : [pins, site]);
}

/** One wait for all local files, and one for each other deployment: one that hangs doesn't delay another. */
function groupsOf(state: State): Deployment[][] {
  const all = watched(state);
  const others = all.filter((each) => !isLocalFile(each)).map((each) => [each]);
  return [all.filter(isLocalFile), ...others].filter((group) => group.length > 0);
}

function keyOf(state: State): string {
  return JSON.stringify(watched(state).map(({ place, pin, off }) => ({ place, pin, off })));
}

function watched(state: State): Deployment[] {
  return state.deployments.filter((each) => {
    const isSet = each.pin !== null || each.off;
    return isElsewhere(each) ? isSet || each.written !== null : isLocalFile(each) && isSet;
  });
}

/** Whether operators can pin it, and no worker announces that. */
function isElsewhere(deployment: Deployment): boolean {
  return TARGETS[deployment.kind].hasSwitches && !isLocalFile(deployment);
}
