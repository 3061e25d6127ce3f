import type { ActivityOptions } from '@temporalio/workflow';
import type { RuleSettings } from '../../contract/settings.ts';
import { currentBuild } from '../coroutines/builds.ts';
import type { SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { readSettings, waitForSettings } from '../settings/read-settings.ts';
import { readRuleSettings } from './activity-proxies.ts';
import type { RuleMemory } from './rule-memory.ts';

/** One run of a rule's workflow: what its coroutines share. Only `memory` and `seen` live on in the next run. */
export type RuleRun = {
  site: string;
  rule: string;
  memory: RuleMemory;
  seen: SeenDeliveries;
  /** As last read; null until a worker told them. */
  settings: RuleSettings | null;
  /** A change is being started: the run must not end now. */
  starting: boolean;
  /** Somebody removed the rule: the run ends for good. */
  removed: boolean;
  /** The configuration should be read again. */
  configChanged: boolean;
  /** The build that the run began with. */
  build: string;
  /** Another build took over, as releases before 0.2 learned it. */
  buildChanged: boolean;
};

export function newRuleRun(names: { site: string; rule: string }, memory: RuleMemory, seen: SeenDeliveries): RuleRun {
  const { site, rule } = names;
  return {
    site,
    rule,
    memory,
    seen,
    settings: memory.settings,
    starting: false,
    removed: false,
    configChanged: false,
    build: currentBuild(),
    buildChanged: false,
  };
}

/**
 * Reads the rule's section of the configuration anew. Where no worker knows it, the last known one stays in force, and the
 * state says so. Tells false where the run is to end, as runs of releases before 0.2 did.
 */
export async function rereadRule(run: RuleRun): Promise<boolean> {
  const reading = await readSettings(reader(run, `settings of the rule ${run.rule} of ${run.site}`));
  if (reading === null) {
    run.removed = true;
    return false;
  }
  if ('settings' in reading) adoptSettings(run, reading.settings);
  else run.memory.unconfigured = reading.missing.slice(0, 500);
  return true;
}

/** Waits for a worker that knows the rule, for as long as none does. */
export async function settingsToCome(run: RuleRun): Promise<void> {
  const { site, rule, memory } = run;
  const over = (): boolean => run.configChanged || memory.unconfigured === null;
  const settings = await waitForSettings(reader(run, `until a worker knows the rule ${rule} of ${site}`), over);
  if (settings !== null) adoptSettings(run, settings);
}

function reader({ site, rule }: RuleRun, summary: string) {
  return (options: ActivityOptions) => readRuleSettings.executeWithOptions({ ...options, summary }, [{ site, rule }]);
}

function adoptSettings(run: RuleRun, settings: RuleSettings): void {
  const before = run.settings?.build;
  // Only workers of releases before 0.2 tell their build.
  if (before !== undefined && settings.build !== undefined && before !== settings.build) run.buildChanged = true;
  run.settings = settings;
  run.memory.settings = settings;
  run.memory.unconfigured = null;
}
