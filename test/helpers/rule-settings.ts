import type { RuleSettings } from '../../contract/settings.ts';

export const RULE_SETTINGS: RuleSettings = {
  rules: ['changelog'],
  reviewers: ['ada@example.com'],
  operators: ['ops@example.com'],
  quietPeriodMs: 200,
  maxPerHour: 6,
  remindAfterMs: [],
  expireAfterMs: 30 * 86_400_000,
  forge: true,
  mail: true,
  tellAfterMs: 600_000,
  notify: [],
  searchAttributes: false,
};
