import type { RuleSettings } from '../../contract/settings.ts';
import { currentBuild, toldOtherBuild } from '../coroutines/builds.ts';
import type { SeenDeliveries } from '../deliveries/seen-deliveries.ts';
import type { SettingsSource } from '../settings/read-settings.ts';
import { ruleSource } from '../settings/rule-settings.ts';
import type { RuleMemory } from './rule-memory.ts';

/** One run of a rule's workflow: what its coroutines share. Only `memory` and `seen` live on in the next run. */
export type RuleRun = {
  site: string;
  rule: string;
  memory: RuleMemory;
  seen: SeenDeliveries;
  /** As last read; null until a worker told them. */
  settings: RuleSettings | null;
  /** Who is told of trouble: without settings, whoever the worker that was asked names. */
  operators: readonly string[];
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
    operators: operatorsOf(memory.settings),
    starting: false,
    removed: false,
    configChanged: false,
    build: currentBuild(),
    buildChanged: false,
  };
}

/** Where the rule gets its settings from, and what it does with them. */
export function sourceOf(run: RuleRun): SettingsSource<RuleSettings> {
  return {
    ...ruleSource(run),
    run,
    adopt(settings) {
      if (toldOtherBuild(run.settings, settings)) run.buildChanged = true;
      run.settings = settings;
      run.operators = operatorsOf(settings);
      run.memory.settings = settings;
      run.memory.unconfigured = null;
    },
    noteMissing({ message, operators }) {
      run.memory.unconfigured = message;
      if (run.settings === null) run.operators = operators;
    },
    takenOut() {
      run.removed = true;
      return false;
    },
  };
}

function operatorsOf(settings: RuleSettings | null): string[] {
  return settings?.mail ? settings.operators : [];
}
