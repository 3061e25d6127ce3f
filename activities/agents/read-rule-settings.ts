import type { SiteConfig } from '../../contract/galley-config.ts';
import type { RuleSettings } from '../../contract/settings.ts';
import { notConfigured } from '../not-configured.ts';

export type RuleSettingsDeps = {
  /** The site's section of this worker's galley.yaml; undefined where it has none. */
  readSite: (site: string) => SiteConfig | undefined | Promise<SiteConfig | undefined>;
  operators: readonly string[];
  forge: boolean;
  mail: boolean;
  searchAttributes: boolean;
};

/** Reads a rule's settings anew, so that a change needs no new workflow. Throws `NotConfigured` (not-configured.ts). */
export function createReadRuleSettings(deps: RuleSettingsDeps) {
  return async function readRuleSettings(input: { site: string; rule: string }): Promise<RuleSettings> {
    const rules = (await deps.readSite(input.site))?.agent ?? [];
    const rule = rules.find(({ name }) => name === input.rule);
    if (rule === undefined) throw notConfigured(`the rule ${input.rule} of the site ${input.site}`);
    const { operators, forge, mail, searchAttributes } = deps;
    return {
      rules: rules.map(({ name }) => name),
      reviewers: rule.reviewers,
      operators: [...operators],
      quietPeriodMs: rule.quietPeriod,
      maxPerHour: rule.maxPerHour,
      remindAfterMs: rule.remindAfter,
      expireAfterMs: rule.expireAfter,
      forge,
      mail,
      searchAttributes,
    };
  };
}
