import type { RuleSettings } from '../../activities/agents/read-rule-settings.ts';
import { readRuleSettings } from './activity-proxies.ts';
import { addNote, type ChangeMemory } from './change-memory.ts';

/** One run of a change's workflow: what its coroutines share. Only `memory` lives on in the next run. */
export type ChangeRun = {
  site: string;
  rule: string;
  memory: ChangeMemory;
  /** As last read. */
  settings: RuleSettings;
  /** Calls that the run mustn't end in the middle of. */
  callsUnderWay: number;
  /** Those who are being asked for review, in lower case: a mail server may put that off for long. */
  beingAsked: Set<string>;
  cancelRequested: boolean;
  /** The rule is no longer configured. */
  removed: boolean;
  /** Nothing is left to do: the workflow ends. */
  done: boolean;
  /** The configuration should be read again. */
  configChanged: boolean;
  /** Another build took over. */
  buildChanged: boolean;
};

/** Stands in until the settings were read, and for a rule that is no longer configured: nobody is told of anything. */
const NO_RULE: RuleSettings = {
  rules: [],
  reviewers: [],
  operators: [],
  quietPeriodMs: 0,
  maxPerHour: 1,
  remindAfterMs: [],
  expireAfterMs: 30 * 86_400_000,
  forge: false,
  mail: false,
  searchAttributes: false,
  build: '',
};

export function newChangeRun({ site, rule }: { site: string; rule: string }, memory: ChangeMemory): ChangeRun {
  return {
    site,
    rule,
    memory,
    settings: NO_RULE,
    callsUnderWay: 0,
    beingAsked: new Set(),
    cancelRequested: false,
    removed: false,
    done: false,
    configChanged: false,
    buildChanged: false,
  };
}

/**
 * Reads the rule's section of the configuration anew. A rule that was taken out of it prompts nothing more; a change
 * that has its job already goes on to its end and tells nobody.
 */
export async function rereadRule(run: ChangeRun): Promise<void> {
  const { site, rule, settings: before, memory } = run;
  const summary = `settings of the rule ${rule} of ${site}`;
  const settings = await readRuleSettings.executeWithOptions({ summary }, [{ site, rule }]);
  if (settings === null) {
    const { rules, build, searchAttributes, forge, expireAfterMs } = before;
    run.settings = { ...NO_RULE, rules, build, searchAttributes, forge, expireAfterMs };
    run.removed = true;
    addNote(memory, 'the rule was taken out of galley.yaml: nobody gets mail any more');
    // A job that is being made just now may exist already: whoever makes it decides.
    if (memory.phase === 'prompting' && run.callsUnderWay === 0) memory.phase = 'cancelled';
    return;
  }
  if (before.build !== '' && before.build !== settings.build) run.buildChanged = true;
  run.settings = settings;
  run.removed = false;
}

/** Runs a call that the run isn't ended in the middle of. */
export async function underWay<T>(run: ChangeRun, call: () => Promise<T>): Promise<T> {
  run.callsUnderWay++;
  try {
    return await call();
  } finally {
    run.callsUnderWay--;
  }
}
