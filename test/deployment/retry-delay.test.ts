import { BundleInvalidError, BundleUnavailableError } from '../../deployment/errors.ts';
import { RETRY_PAUSES, retryDelayMs } from '../../deployment/retry-delay.ts';

const MIDDLE = 0.5;

describe('the pause before a link is tried again', () => {
  const passing = new BundleUnavailableError('x', 'soon', 503);

  it('doubles from a second to a minute', () => {
    const pauses = [1, 2, 3, 7, 50, 5000].map((failures) => retryDelayMs(passing, failures, MIDDLE));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 60_000, 60_000, 60_000]);
  });

  it('is as long as the server asks, within bounds', () => {
    const asking = (ms: number) => new BundleUnavailableError('x', 'soon', 503, ms);
    expect(retryDelayMs(asking(30_000), 1, MIDDLE)).toBe(30_000);
    expect(retryDelayMs(asking(9e9), 1, MIDDLE)).toBe(RETRY_PAUSES.slowlyMs);
    expect(retryDelayMs(asking(1), 1, MIDDLE)).toBe(1_000);
  });

  it('is long for an expired link and longer for bytes that are no bundle', () => {
    expect(retryDelayMs(new BundleUnavailableError('x', 'slowly', 403), 1, MIDDLE)).toBe(RETRY_PAUSES.slowlyMs);
    expect(retryDelayMs(new BundleInvalidError('x'), 1, MIDDLE)).toBe(RETRY_PAUSES.invalidMs);
  });

  it('differs between deployments by up to a tenth', () => {
    expect(retryDelayMs(passing, 1, 0)).toBe(900);
    expect(retryDelayMs(passing, 1, 1)).toBe(1_100);
  });
});
