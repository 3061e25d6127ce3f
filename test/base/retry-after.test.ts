import { parseRetryAfterMs } from '../../base/retry-after.ts';

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['0.5', 500],
    ['999999', 3_600_000],
    ['Sat, 21 Nov 2026 08:00:30 GMT', 30_000],
    ['Sat, 21 Nov 2026 07:00:00 GMT', 0],
    ['Sat Nov 21 08:00:30 2026', 30_000],
    ['whenever', undefined],
    [undefined, undefined],
  ])('%j is a wait of %s ms', (value, ms) => {
    expect(parseRetryAfterMs(value, 'Sat, 21 Nov 2026 08:00:00 GMT')).toBe(ms);
  });
});
