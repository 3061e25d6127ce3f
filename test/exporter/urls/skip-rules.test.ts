import { ruleOfReason, SKIP_RULES, skipReason } from '../../../exporter/urls/skip-rules.ts';

describe('skip rules', () => {
  it('have a reason that contains the limit', () => {
    expect(skipReason('queries', 200)).toBe('its path has more than 200 query strings');
  });

  it.each(SKIP_RULES)('are found by their reason with any limit: %s', (rule) => {
    expect(ruleOfReason(skipReason(rule, 5))).toBe(rule);
    expect(ruleOfReason(skipReason(rule, 200_000))).toBe(rule);
  });

  it.each(['', 'the moon was full', 'the export already has many URLs', 'its path has more than 200 query'])(
    'are not found by other texts: %j',
    (text) => {
      expect(ruleOfReason(text)).toBe('other');
    },
  );
});
