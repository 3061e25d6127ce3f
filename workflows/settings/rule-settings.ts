import { ActivityCancellationType, type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import type { RuleSettings } from '../../contract/settings.ts';
import { retry } from '../trouble/call-limits.ts';
import type { SettingsSource } from './read-settings.ts';

/** Reads memory; whatever takes longer than 5 s was a killed worker. */
const { readRuleSettings } = proxyActivities<Activities>({
  startToCloseTimeout: '5s',
  retry,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** Where a rule, and each change that it started, gets the rule's settings from. */
export function ruleSource({
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
