import { pollDelayMs } from '../../../activities/admin-api/poll-job.ts';

describe('the time between two polls', () => {
  it('grows from one second to fifteen, and respects a longer Retry-After', () => {
    expect(pollDelayMs(1)).toBe(1_000);
    expect(pollDelayMs(2)).toBeGreaterThan(1_000);
    expect(pollDelayMs(500)).toBe(15_000);
    expect(pollDelayMs(1, 60_000)).toBe(60_000);
    expect(pollDelayMs(500, 1_000)).toBe(15_000);
  });
});
