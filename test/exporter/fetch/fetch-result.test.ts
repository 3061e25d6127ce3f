import {
  failureOfError,
  failureOfLateness,
  failureOfStatus,
  fetchRetryDelayMs,
} from '../../../exporter/fetch/fetch-result.ts';

describe('fetchRetryDelayMs', () => {
  it('grows with each attempt, up to the maximum number of attempts', () => {
    const delays = [1, 2, 3, 4, 5].map((attempt) => fetchRetryDelayMs(failureOfStatus(500, undefined), attempt, 5));
    expect(delays).toEqual([250, 500, 1_000, 2_000, undefined]);
  });

  it('allows more attempts for an unreachable or overloaded origin', () => {
    expect(fetchRetryDelayMs(failureOfStatus(503, undefined), 8, 5)).toBe(8_000);
    expect(fetchRetryDelayMs(failureOfError(new Error('reset')), 8, 5)).toBe(8_000);
    expect(fetchRetryDelayMs(failureOfStatus(503, undefined), 9, 5)).toBeUndefined();
  });

  it('allows few attempts for late responses', () => {
    const delays = [1, 2, 3].map((attempt) =>
      fetchRetryDelayMs(failureOfLateness({ at: 0, reason: 'late' }), attempt, 5),
    );
    expect(delays).toEqual([250, 500, undefined]);
  });

  it('follows Retry-After, but gives up after a Retry-After of an hour', () => {
    expect(fetchRetryDelayMs(failureOfStatus(429, 30_000), 1, 5)).toBe(30_000);
    expect(fetchRetryDelayMs(failureOfStatus(429, 3_600_000), 1, 5)).toBeUndefined();
  });

  it('names no address and no host of the operator', () => {
    const reasonOf = (message: string, code: string) => {
      const failure = failureOfError(
        new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) }),
      );
      return failure.reason;
    };
    expect(reasonOf('connect ECONNREFUSED 10.0.0.5:8080', 'ECONNREFUSED')).toBe('fetch failed (nothing listens there)');
    expect(reasonOf('getaddrinfo ENOTFOUND cms.internal', 'ENOTFOUND')).toBe('no such host');
    const certificate = reasonOf('Host: cms.internal. is not in the altnames', 'ERR_TLS_CERT_ALTNAME_INVALID');
    expect(certificate).toBe('its certificate is for another host');
  });

  it('does not retry a permanent failure', () => {
    expect(fetchRetryDelayMs(failureOfStatus(404, undefined), 1, 5)).toBeUndefined();
  });
});
