import {
  failureOfError,
  failureOfLateness,
  failureOfStatus,
  retryDelayMs,
} from '../../../exporter/fetch/fetch-result.ts';
import { readRetryAfterMs } from '../../../exporter/fetch/retry-after-gate.ts';

describe('retryDelayMs', () => {
  it('grows with each attempt, up to the maximum number of attempts', () => {
    const delays = [1, 2, 3, 4, 5].map((attempt) => retryDelayMs(failureOfStatus(500, undefined), attempt, 5));
    expect(delays).toEqual([250, 500, 1_000, 2_000, undefined]);
  });

  it('allows more attempts for an unreachable or overloaded origin', () => {
    expect(retryDelayMs(failureOfStatus(503, undefined), 8, 5)).toBe(8_000);
    expect(retryDelayMs(failureOfError(new Error('reset')), 8, 5)).toBe(8_000);
    expect(retryDelayMs(failureOfStatus(503, undefined), 9, 5)).toBeUndefined();
  });

  it('allows few attempts for late responses', () => {
    const delays = [1, 2, 3].map((attempt) => retryDelayMs(failureOfLateness({ at: 0, reason: 'late' }), attempt, 5));
    expect(delays).toEqual([250, 500, undefined]);
  });

  it('follows Retry-After, but gives up after a Retry-After of an hour', () => {
    expect(retryDelayMs(failureOfStatus(429, 30_000), 1, 5)).toBe(30_000);
    expect(retryDelayMs(failureOfStatus(429, 3_600_000), 1, 5)).toBeUndefined();
  });

  it('does not retry a permanent failure', () => {
    expect(retryDelayMs(failureOfStatus(404, undefined), 1, 5)).toBeUndefined();
  });
});

describe('readRetryAfterMs', () => {
  it('parses only seconds and dates', () => {
    const now = Date.parse('2026-11-21T10:00:00Z');
    expect(readRetryAfterMs('120', now)).toBe(120_000);
    expect(readRetryAfterMs('Sat, 21 Nov 2026 10:00:05 GMT', now)).toBe(5_000);
    expect(readRetryAfterMs('Sat, 21 Nov 2026 09:00:00 GMT', now)).toBe(0);
    expect([readRetryAfterMs(undefined, now), readRetryAfterMs('soon', now)]).toEqual([undefined, undefined]);
  });
});
