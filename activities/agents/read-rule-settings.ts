import type { NotificationType } from '../../contract/notification.ts';
import type { RuleSettings } from '../../contract/settings.ts';
import { findRule, type ReadSite } from '../sites/read-site.ts';

type RuleSettingsDeps = {
  readSite: ReadSite;
  operators: readonly string[];
  forge: boolean;
  mail: boolean;
  /** The types of events that any target of notifications gets. */
  notify: readonly NotificationType[];
  searchAttributes: boolean;
};

/**
 * Reads a rule's settings at each call, so a changed configuration needs no new workflow. Throws `NotConfigured`
 * (not-configured.ts).
 */
export function createReadRuleSettings(deps: RuleSettingsDeps) {
  return async function readRuleSettings(input: { site: string; rule: string }): Promise<RuleSettings> {
    const { site, rule } = await findRule(deps.readSite, input, deps.mail ? deps.operators : []);
    const { operators, forge, mail, notify, searchAttributes } = deps;
    return {
      rules: site.agent.map(({ name }) => name),
      reviewers: rule.reviewers,
      operators: [...operators],
      quietPeriodMs: rule.quietPeriod,
      maxPerHour: rule.maxPerHour,
      remindAfterMs: rule.remindAfter,
      expireAfterMs: rule.expireAfter,
      ...(rule.followUps && { followUps: rule.followUps }),
      forge,
      mail,
      tellAfterMs: site.export.tellAfter,
      notify: [...notify],
      searchAttributes,
    };
  };
}
