import { type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import type { RuleSettings } from '../../contract/settings.ts';
import type { SettingsSource } from '../entity/configuration.ts';
import { settingsRead } from '../retry/activity-timeouts.ts';
import { operatorsOf, type RuleRun } from './state.ts';
import { reportUnconfigured } from './transitions.ts';

const { readRuleSettings } = proxyActivities<Activities>(settingsRead);

/** How a rule, and each change that it started, reads the rule's settings. */
export function readRule({
  site,
  rule,
}: {
  site: string;
  rule: string;
}): Pick<SettingsSource<RuleSettings>, 'what' | 'read'> {
  return {
    what: `the rule ${rule} of ${site}`,
    read: (options: ActivityOptions) => readRuleSettings.executeWithOptions(options, [{ site, rule }]),
  };
}

export function settingsSource(run: RuleRun): SettingsSource<RuleSettings> {
  return {
    ...readRule(run),
    run,
    onAdopted(settings) {
      run.operators = operatorsOf(settings);
    },
    reportMissing({ message, operators }) {
      reportUnconfigured(run.state, message);
      if (run.settings === null) run.operators = operators;
    },
  };
}
