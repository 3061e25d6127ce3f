import { jest } from '@jest/globals';
import { pino } from 'pino';
import type { Acquired, AcquireRequest } from '../../deployment/acquire-bundle.ts';
import { BundleUnavailableError, ValuesFileError } from '../../deployment/errors.ts';
import { Follower } from '../../deployment/follower.ts';
import { RETRY_PAUSES } from '../../deployment/retry-delay.ts';
import { createSite } from '../../deployment/site.ts';
import type { Target } from '../../deployment/target.ts';
import { DEFAULT_SETTINGS } from '../../deployment/values.ts';
import { manifestOf, siteOf } from './bundles.ts';

const GRACE_MS = 60_000;
const site = createSite('/nowhere', 'x', manifestOf(siteOf('1')));
const wanted = (link: string): Target => ({
  kind: 'wanted',
  wanted: {
    settings: DEFAULT_SETTINGS,
    enabled: true,
    link: new URL(link, 'https://store.example'),
    version: undefined,
    publicKey: undefined,
  },
});

/** A follower whose downloads a test ends by hand. */
function startFollower() {
  const tries: { link: string; signal: AbortSignal; end(outcome: Acquired | Error): void }[] = [];
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
        tries.push({ link: link.pathname + link.search, signal, end });
      }),
    pauses: RETRY_PAUSES,
    supersedeGraceMs: GRACE_MS,
    now: () => new Date(),
    random: () => 0.5,
    logger: pino({ level: 'silent' }),
  });
  return { follower, tries, swapped, asked: () => tries.map(({ link }) => link) };
}

const pass = async (ms: number): Promise<void> => await jest.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('a bundle that cannot be fetched', () => {
  it('is tried again after the planned pause, until it is served', async () => {
    const { follower, tries, swapped } = startFollower();
    follower.follow(wanted('/1'));
    await pass(0);
    tries[0]?.end(new BundleUnavailableError('away', 'soon', 503));
    await pass(999);
    expect(follower.report()).toMatchObject({
      problem: { status: 503 },
      nextTryAt: new Date(Date.now() + 1).toISOString(),
    });
    expect(tries).toHaveLength(1);
    await pass(1);
    tries[1]?.end(new BundleUnavailableError('away', 'soon', 503));
    await pass(1_999);
    expect(tries).toHaveLength(2);
    await pass(1);
    tries[2]?.end({ site, etag: undefined });
    await pass(0);
    expect(swapped).toEqual(['/1']);
    expect(follower.report()).toMatchObject({ problem: null, nextTryAt: null });
  });

  it('is not tried again once the follower has stopped', async () => {
    const { follower, tries } = startFollower();
    follower.follow(wanted('/1'));
    await pass(0);
    tries[0]?.end(new BundleUnavailableError('away', 'soon'));
    await pass(0);
    await follower.stop();
    await pass(3_600_000);
    expect(tries).toHaveLength(1);
  });

  it('is tried at once when the values file changes', async () => {
    const { follower, tries, asked } = startFollower();
    follower.follow(wanted('/1'));
    await pass(0);
    tries[0]?.end(new BundleUnavailableError('expired', 'slowly', 403));
    await pass(0);
    follower.follow(wanted('/2'));
    await pass(0);
    expect(asked()).toEqual(['/1', '/2']);
  });
});

it('a values file that cannot be read is not tried again: only a change of the file helps', async () => {
  const { follower, tries } = startFollower();
  follower.follow({ kind: 'unreadable', error: new ValuesFileError('values.yaml', null, 'expected YAML') });
  await pass(3_600_000);
  expect(follower.report()).toMatchObject({ problem: { message: 'values.yaml: expected YAML' }, nextTryAt: null });
  expect(tries).toEqual([]);
});

describe('a download under way', () => {
  it('goes on when its link is refreshed, and the newest link is settled afterwards', async () => {
    const { follower, tries, swapped } = startFollower();
    follower.follow(wanted('/1?token=1'));
    await pass(0);
    follower.follow(wanted('/1?token=2'));
    await pass(10 * GRACE_MS);
    expect(tries[0]?.signal.aborted).toBe(false);
    tries[0]?.end({ site, etag: undefined });
    await pass(0);
    tries[1]?.end({ site, etag: undefined });
    await pass(0);
    expect(swapped).toEqual(['/1?token=1', '/1?token=2']);
  });

  it('has a grace period when another bundle is wanted, and then makes room for it', async () => {
    const { follower, tries, asked } = startFollower();
    follower.follow(wanted('/stuck'));
    await pass(0);
    follower.follow(wanted('/2'));
    await pass(GRACE_MS - 1);
    expect(asked()).toEqual(['/stuck']);
    await pass(1);
    expect(tries[0]?.signal.aborted).toBe(true);
    expect(asked()).toEqual(['/stuck', '/2']);
  });

  it('ends at once when serving is switched off', async () => {
    const { follower, tries } = startFollower();
    follower.follow(wanted('/1'));
    await pass(0);
    follower.follow({ kind: 'wanted', wanted: { settings: DEFAULT_SETTINGS, enabled: false } });
    await pass(0);
    expect(tries[0]?.signal.aborted).toBe(true);
    expect(follower.report()).toMatchObject({ problem: null, download: null });
  });
});
