import type { RuleSettings } from '../../activities/agents/read-rule-settings.ts';
import type { SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import { readRuleSettings } from './activity-proxies.ts';
import type { RuleMemory } from './rule-memory.ts';

/** One run of a rule's workflow: what its coroutines share. Only `memory` and `seen` live on in the next run. */
export type RuleRun = {
  site: string;
  rule: string;
  memory: RuleMemory;
  seen: SeenDeliveries;
  /** As last read; null before. */
  settings: RuleSettings | null;
  /** A change is being started: the run must not end now. */
  starting: boolean;
  /** The rule is no longer configured. */
  removed: boolean;
  /** The configuration should be read again. */
  configChanged: boolean;
  /** Another build took over. */
  buildChanged: boolean;
};

export function newRuleRun(names: { site: string; rule: string }, memory: RuleMemory, seen: SeenDeliveries): RuleRun {
  const { site, rule } = names;
  return {
    site,
    rule,
    memory,
    seen,
    settings: null,
    starting: false,
    removed: false,
    configChanged: false,
    buildChanged: false,
  };
}

/** Reads the rule's section of the configuration anew. Null where it is no longer there: the run ends. */
export async function rereadRule(run: RuleRun): Promise<RuleSettings | null> {
  const { site, rule, settings: before } = run;
  const summary = `settings of the rule ${rule} of ${site}`;
  const settings = await readRuleSettings.executeWithOptions({ summary }, [{ site, rule }]);
  if (settings === null) {
    run.removed = true;
    return null;
  }
  if (before !== null && before.build !== settings.build) run.buildChanged = true;
  run.settings = settings;
  return settings;
}
