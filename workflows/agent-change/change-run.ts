import type { RuleSettings } from '../../contract/settings.ts';
import { currentBuild, toldOtherBuild } from '../coroutines/builds.ts';
import type { SettingsSource } from '../settings/read-settings.ts';
import { ruleSource } from '../settings/rule-settings.ts';
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
  /** Only verdicts of those who were asked end the reminders. */
  remindsUntilVerdict: boolean;
  cancelRequested: boolean;
  /** The rule was taken out of the configuration, which ended things in releases before 0.2. */
  removed: boolean;
  /** Nothing is left to do: the workflow ends. */
  done: boolean;
  /** The configuration should be read again. */
  configChanged: boolean;
  /** The build that the run began with. */
  build: string;
  /** Another build took over, as releases before 0.2 learned it. */
  buildChanged: boolean;
};

/** Stands in until a worker told the settings, and for a rule that was taken out: nobody is told of anything. */
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
};

export function newChangeRun({ site, rule }: { site: string; rule: string }, memory: ChangeMemory): ChangeRun {
  return {
    site,
    rule,
    memory,
    settings: memory.settings ?? NO_RULE,
    callsUnderWay: 0,
    beingAsked: new Set(),
    remindsUntilVerdict: false,
    cancelRequested: false,
    removed: false,
    done: false,
    configChanged: false,
    build: currentBuild(),
    buildChanged: false,
  };
}

/** Where the change gets its rule's settings from, and what it does with them. */
export function sourceOf(run: ChangeRun): SettingsSource<RuleSettings> {
  return {
    ...ruleSource(run),
    run,
    adopt(settings) {
      if (toldOtherBuild(run.settings, settings)) run.buildChanged = true;
      run.settings = settings;
      run.removed = false;
      run.memory.settings = settings;
      run.memory.unconfigured = null;
    },
    noteMissing({ message }) {
      run.memory.unconfigured = message;
    },
    takenOut() {
      forgetRule(run);
      return true;
    },
  };
}

/** What releases before 0.2 did where their worker didn't know the rule. It is here for their histories. */
function forgetRule(run: ChangeRun): void {
  const { rules, build, searchAttributes, forge, expireAfterMs } = run.settings;
  run.settings = { ...NO_RULE, rules, build, searchAttributes, forge, expireAfterMs };
  run.removed = true;
  addNote(run.memory, 'the rule was taken out of galley.yaml: nobody gets mail any more');
  // A job that is being made just now may exist already: whoever makes it decides.
  if (run.memory.phase === 'prompting' && run.callsUnderWay === 0) run.memory.phase = 'cancelled';
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
