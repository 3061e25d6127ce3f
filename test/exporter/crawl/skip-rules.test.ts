import { ruleOfReason, skipReason } from '../../../exporter/crawl/skip-rules.ts';

describe('skip rules', () => {
  it('are found again by their words, whatever their bound', () => {
    expect(skipReason('queries', 200)).toBe('its path has more than 200 query strings');
    expect(ruleOfReason(skipReason('queries', 200))).toBe('queries');
    expect(ruleOfReason(skipReason('dates', 5))).toBe('dates');
    expect(ruleOfReason(skipReason('robots'))).toBe('robots');
    expect(ruleOfReason(skipReason('addresses', 200_000))).toBe('addresses');
    expect(ruleOfReason('the moon was full')).toBe('other');
  });
});
