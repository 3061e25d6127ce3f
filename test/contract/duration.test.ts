import { durationMs, formatDurationMs, parseDurationMs } from '../../contract/duration.ts';

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['10s', 10_000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['2d', 172_800_000],
  ])('reads %s as %d milliseconds and writes it back the same length', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
    expect(parseDurationMs(formatDurationMs(ms))).toBe(ms);
  });

  it.each(['', '10', 's', '-1s', '1.5h', '10 s', '1w', '99999999999999d'])('refuses %j', (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });

  it('are refused in configuration if no date could hold their end', () => {
    expect(durationMs.parse('3650d')).toBe(315_360_000_000);
    expect(durationMs.safeParse('100000000d').error?.issues[0]?.message).toBe('expected a duration of at most 3650d');
  });
});
