import type { SiteConfig } from '../../contract/galley-config.ts';

/** What the workflows of an agent rule need of its configuration. No secrets and no template: this enters the history. */
export type RuleSettings = {
  /** The names of all rules of the site: what one agent merges is to prompt none of them. */
  rules: string[];
  /** Mail addresses of the rule's own reviewers. */
  reviewers: string[];
  /** Mail addresses of those who are told of failures. */
  operators: string[];
  quietPeriodMs: number;
  maxPerHour: number;
  /** Times after the request for review, ascending; each sends one reminder unless somebody reviewed by then. */
  remindAfterMs: number[];
  expireAfterMs: number;
  /** Whether a forge, and whether a mail server, is configured. */
  forge: boolean;
  mail: boolean;
  /** Whether the search attributes of contract/names.ts are usable here. */
  searchAttributes: boolean;
  /** The worker's build: a run made by another one continues as new, so that it doesn't carry old branches along. */
  build: string;
};

export type RuleSettingsDeps = {
  /** The site's section of the current configuration; undefined where the site was removed. */
  readSite: (site: string) => SiteConfig | undefined | Promise<SiteConfig | undefined>;
  operators: readonly string[];
  forge: boolean;
  mail: boolean;
  searchAttributes: boolean;
  build: string;
};

/** Reads a rule's settings anew, so that a change needs no new workflow. Null where the rule is no longer configured. */
export function createReadRuleSettings(deps: RuleSettingsDeps) {
  return async function readRuleSettings(input: { site: string; rule: string }): Promise<RuleSettings | null> {
    const rules = (await deps.readSite(input.site))?.agent ?? [];
    const rule = rules.find(({ name }) => name === input.rule);
    if (rule === undefined) return null;
    const { operators, forge, mail, searchAttributes, build } = deps;
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
      build,
    };
  };
}
