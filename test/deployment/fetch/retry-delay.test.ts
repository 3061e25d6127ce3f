import { BundleInvalidError, BundleUnavailableError } from '../../../bundle/errors.ts';
import { VersionPinnedError } from '../../../deployment/errors.ts';
import { linkRetryDelayMs, RETRY_PAUSES } from '../../../deployment/fetch/retry-delay.ts';

const MIDDLE = 0.5;

describe('the retry delay of a link', () => {
  const transient = new BundleUnavailableError('x', 'soon', 503);

  it('doubles from a second to a minute', () => {
    const pauses = [1, 2, 3, 7, 50, 5000].map((failures) => linkRetryDelayMs(transient, failures, MIDDLE));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 60_000, 60_000, 60_000]);
  });

  it('follows Retry-After within bounds', () => {
    const withRetryAfter = (ms: number) => new BundleUnavailableError('x', 'soon', 503, ms);
    expect(linkRetryDelayMs(withRetryAfter(30_000), 1, MIDDLE)).toBe(30_000);
    expect(linkRetryDelayMs(withRetryAfter(9e9), 1, MIDDLE)).toBe(RETRY_PAUSES.slowlyMs);
    expect(linkRetryDelayMs(withRetryAfter(1), 1, MIDDLE)).toBe(1_000);
  });

  it('is long for an expired link or another version than the pinned one, and longer for an invalid bundle', () => {
    expect(linkRetryDelayMs(new BundleUnavailableError('x', 'slowly', 403), 1, MIDDLE)).toBe(RETRY_PAUSES.slowlyMs);
    expect(linkRetryDelayMs(new VersionPinnedError('2', '1'), 1, MIDDLE)).toBe(RETRY_PAUSES.slowlyMs);
    expect(linkRetryDelayMs(new BundleInvalidError('x'), 1, MIDDLE)).toBe(RETRY_PAUSES.invalidMs);
  });

  it('differs between deployments by up to a tenth', () => {
    expect(linkRetryDelayMs(transient, 1, 0)).toBe(900);
    expect(linkRetryDelayMs(transient, 1, 1)).toBe(1_100);
  });
});
