import { jest } from '@jest/globals';
import { pino } from 'pino';
import { BundleUnavailableError } from '../../../bundle/errors.ts';
import { ValuesReadError } from '../../../deployment/errors.ts';
import type { Acquired, AcquireRequest } from '../../../deployment/fetch/acquire-bundle.ts';
import { Follower } from '../../../deployment/fetch/follower.ts';
import { RETRY_PAUSES } from '../../../deployment/fetch/retry-delay.ts';
import { createSite } from '../../../deployment/site.ts';
import { DEFAULT_SETTINGS } from '../../../deployment/values/values.ts';
import type { ValuesState } from '../../../deployment/values/watch-values.ts';
import { manifestOf, siteOf } from '../bundles.ts';

const GRACE_MS = 60_000;
const site = createSite('/nowhere', 'x', manifestOf(siteOf('1')));
const wanted = (link: string): ValuesState => ({
  kind: 'wanted',
  wanted: {
    settings: DEFAULT_SETTINGS,
    enabled: true,
    link: new URL(link, 'https://store.example'),
    version: undefined,
    publicKey: undefined,
    integrity: undefined,
  },
});

/** A follower whose downloads a test settles by hand. */
function startFollower() {
  const attempts: { link: string; signal: AbortSignal; end(outcome: Acquired | Error): void }[] = [];
  const swapped: string[] = [];
  const follower = new Follower({
    served: {
      state: () => ({ formatVersion: 1, enabled: true, current: null, previous: [] }),
      site: () => undefined,
      previous: () => [],
      setEnabled: async () => undefined,
      async swap(_site, link) {
        swapped.push(link.pathname + link.search);
        return true;
      },
    },
    acquire: ({ link, signal }: AcquireRequest) =>
      new Promise((resolve, reject) => {
        const end = (outcome: Acquired | Error): void =>
          outcome instanceof Error ? reject(outcome) : resolve(outcome);
        signal.addEventListener('abort', () => end(new Error('aborted')));
        attempts.push({ link: link.pathname + link.search, signal, end });
      }),
    pauses: RETRY_PAUSES,
    supersedeGraceMs: GRACE_MS,
    now: () => new Date(),
    random: () => 0.5,
    logger: pino({ level: 'silent' }),
  });
  return { follower, attempts, swapped, requested: () => attempts.map(({ link }) => link) };
}

const advance = async (ms: number): Promise<void> => await jest.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('a bundle that cannot be downloaded', () => {
  it('is retried with back-off until it is served', async () => {
    const { follower, attempts, swapped } = startFollower();
    follower.follow(wanted('/1'));
    await advance(0);
    attempts[0]?.end(new BundleUnavailableError('away', 'soon', 503));
    await advance(999);
    expect(follower.report()).toMatchObject({
      problem: { status: 503 },
      nextTryAt: new Date(Date.now() + 1).toISOString(),
    });
    expect(attempts).toHaveLength(1);
    await advance(1);
    attempts[1]?.end(new BundleUnavailableError('away', 'soon', 503));
    await advance(1_999);
    expect(attempts).toHaveLength(2);
    await advance(1);
    attempts[2]?.end({ site, etag: undefined });
    await advance(0);
    expect(swapped).toEqual(['/1']);
    expect(follower.report()).toMatchObject({ problem: null, nextTryAt: null });
  });

  it('is not retried after the follower has stopped', async () => {
    const { follower, attempts } = startFollower();
    follower.follow(wanted('/1'));
    await advance(0);
    attempts[0]?.end(new BundleUnavailableError('away', 'soon'));
    await advance(0);
    await follower.stop();
    await advance(3_600_000);
    expect(attempts).toHaveLength(1);
  });

  it('is retried at once when the values file changes', async () => {
    const { follower, attempts, requested } = startFollower();
    follower.follow(wanted('/1'));
    await advance(0);
    attempts[0]?.end(new BundleUnavailableError('expired', 'slowly', 403));
    await advance(0);
    follower.follow(wanted('/2'));
    await advance(0);
    expect(requested()).toEqual(['/1', '/2']);
  });
});

it('an unreadable values file is not retried until it changes', async () => {
  const { follower, attempts } = startFollower();
  follower.follow({ kind: 'unreadable', error: new ValuesReadError('values.yaml', null, 'expected YAML') });
  await advance(3_600_000);
  expect(follower.report()).toMatchObject({ problem: { message: 'values.yaml: expected YAML' }, nextTryAt: null });
  expect(attempts).toEqual([]);
});

describe('a running download', () => {
  it('continues when its link is refreshed, then the newest link is checked', async () => {
    const { follower, attempts, swapped } = startFollower();
    follower.follow(wanted('/1?token=1'));
    await advance(0);
    follower.follow(wanted('/1?token=2'));
    await advance(10 * GRACE_MS);
    expect(attempts[0]?.signal.aborted).toBe(false);
    attempts[0]?.end({ site, etag: undefined });
    await advance(0);
    attempts[1]?.end({ site, etag: undefined });
    await advance(0);
    expect(swapped).toEqual(['/1?token=1', '/1?token=2']);
  });

  it('is aborted after a grace period when the values file names another bundle', async () => {
    const { follower, attempts, requested } = startFollower();
    follower.follow(wanted('/stuck'));
    await advance(0);
    follower.follow(wanted('/2'));
    await advance(GRACE_MS - 1);
    expect(requested()).toEqual(['/stuck']);
    await advance(1);
    expect(attempts[0]?.signal.aborted).toBe(true);
    expect(requested()).toEqual(['/stuck', '/2']);
  });

  it('is aborted at once when serving is disabled', async () => {
    const { follower, attempts } = startFollower();
    follower.follow(wanted('/1'));
    await advance(0);
    follower.follow({ kind: 'wanted', wanted: { settings: DEFAULT_SETTINGS, enabled: false } });
    await advance(0);
    expect(attempts[0]?.signal.aborted).toBe(true);
    expect(follower.report()).toMatchObject({ problem: null, download: null });
  });
});
