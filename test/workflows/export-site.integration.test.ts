import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../helpers/system/wait-for.ts';
import { useDevServer } from './dev-server-benches.ts';

const { bench } = useDevServer();

describe('a publish', () => {
  it('is exported, bundled and deployed, and its link is refreshed', async () => {
    const site = await bench();
    site.api.behaviour.linkLifetimeMs = 4_000;
    await site.publish();
    const live = await site.until('live', ({ phase }) => phase === 'live');
    const first = await site.deployed();
    expect(first?.jobId).toBe(live.jobId);
    await site.until('refreshed', ({ linkExpiresAt }) => linkExpiresAt !== live.linkExpiresAt);
    const fresher = async () => ((await site.deployed())?.expiresAtMs ?? 0) > (first?.expiresAtMs ?? Number.NaN);
    await waitFor(fresher, { describe: 'got a fresher link' });
    expect(site.api.jobs).toHaveLength(1);
  });

  it('during an export is exported afterwards', async () => {
    const site = await bench();
    site.api.behaviour.jobDurationMs = 3_600_000;
    await site.publish();
    await site.until('exporting', ({ phase, jobId }) => phase === 'exporting' && jobId !== null);
    site.api.behaviour.content = 2;
    await site.publish();
    site.api.behaviour.jobDurationMs = 0;
    await site.until('live with both', ({ phase }) => phase === 'live' && site.api.jobs.length === 2);
    expect((await site.deployed())?.content).toBe(2);
  });

  it('makes at most three exports with 499 others in five seconds, the last of the newest content', async () => {
    // A busy machine may stand still for a second or two, and take a minute for the five seconds.
    const site = await bench({ settings: { quietPeriod: '4s', maxWait: '2m' } });
    for (let count = 1; count <= 500; count++) {
      site.api.behaviour.content = count;
      await site.publish();
      await sleep(10);
    }
    await site.until('live with all', ({ phase, jobId }) => phase === 'live' && jobId === site.api.jobs.at(-1)?.jobId);
    expect(site.api.jobs.length).toBeLessThanOrEqual(3);
    expect((await site.deployed())?.content).toBe(500);
  });

  it('that is resent starts nothing and is listed as a duplicate', async () => {
    const site = await bench();
    await site.publish({ id: 'same' });
    await site.until('live', ({ phase }) => phase === 'live');
    await site.publish({ id: 'same' });
    const { deliveries, phase } = await site.until('told', ({ deliveries }) => deliveries.length === 2);
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['duplicate', 'started']);
    expect(phase).toBe('live');
    expect(site.api.jobs).toHaveLength(1);
  });

  it('with the id of an old one counts again once the window of its source has passed', async () => {
    const site = await bench();
    await site.publish({ id: 'hash-of-body', dedupeMs: 1_000 });
    await site.until('live', ({ phase }) => phase === 'live');
    await sleep(2_100);
    await site.publish({ id: 'hash-of-body', dedupeMs: 1_000 });
    await site.until('exported again', ({ phase }) => phase === 'live' && site.api.jobs.length === 2);
  });
});

describe('a site nobody has published', () => {
  it('exports nothing until somebody asks for it', async () => {
    const site = await bench();
    await site.start();
    const idle = await site.until('idle', ({ phase }) => phase === 'idle');
    expect(idle).toMatchObject({ jobId: null, linkExpiresAt: null, nextRefreshAt: null, lastError: null });
    await expect(site.handle.executeUpdate('refreshNow')).rejects.toThrow();
    await sleep(1_000);
    expect(site.api.calls).toEqual([]);
    await site.handle.executeUpdate('exportNow');
    await site.until('live', ({ phase }) => phase === 'live');
  });
});

describe('with whenBusy: cancel', () => {
  it('a newer publish replaces the running export', async () => {
    const site = await bench({ settings: { whenBusy: 'cancel', maxWait: '1m' } });
    site.api.behaviour.jobDurationMs = 60_000;
    await site.publish();
    await site.until('exporting', ({ jobId }) => jobId !== null);
    site.api.behaviour.content = 2;
    site.api.behaviour.jobDurationMs = 500;
    const [first] = site.api.jobs;
    if (first) first.startedAtMs = Number.MAX_SAFE_INTEGER;
    await site.publish();
    const live = await site.until('live', ({ phase }) => phase === 'live');
    expect(site.api.jobs.map(({ status }) => status)).toEqual(['failed', 'completed']);
    expect(live.lastError).toBeNull();
    expect((await site.deployed())?.content).toBe(2);
  });

  it('a job of a service that can not cancel is waited for, deployed, and followed by the newer one', async () => {
    const site = await bench({ settings: { whenBusy: 'cancel', maxWait: '1m' } });
    const cancels = () => site.api.calls.filter(({ path }) => path.endsWith('/cancel'));
    site.api.behaviour.canCancel = false;
    site.api.behaviour.jobDurationMs = 3_600_000;
    await site.publish();
    await site.until('exporting', ({ jobId }) => jobId !== null);
    site.api.behaviour.content = 2;
    await site.publish();
    await waitFor(() => cancels().length > 0, { describe: 'asked for the cancel' });
    site.api.behaviour.jobDurationMs = 0;
    await site.until('live with both', ({ phase }) => phase === 'live' && site.api.jobs.length === 2);
    expect(site.api.jobs.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(cancels()).toHaveLength(1);
  });

  it('publishing without end still gets an export through once the oldest has waited long enough', async () => {
    const site = await bench({ settings: { whenBusy: 'cancel', quietPeriod: '100ms', maxWait: '1500ms' } });
    site.api.behaviour.jobDurationMs = 1_000;
    let live = false;
    for (let round = 0; round < 60 && !live; round++) {
      await site.publish();
      await sleep(300);
      live = (await site.deployed()) !== null;
    }
    expect(live).toBe(true);
  });
});

describe('a site that was taken out of the configuration', () => {
  it('ends its workflow at the next announcement', async () => {
    const site = await bench();
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    site.configure(undefined);
    await site.handle.signal('configChanged');
    await expect(site.handle.result()).resolves.toBeUndefined();
  });
});

describe('a quiet period that is made shorter', () => {
  it('counts for publishes that wait already', async () => {
    const site = await bench({ settings: { quietPeriod: '1h', maxWait: '1h' } });
    await site.publish();
    await site.until('debouncing', ({ phase }) => phase === 'debouncing');
    site.configure({});
    await site.handle.signal('configChanged');
    await site.until('live', ({ phase }) => phase === 'live');
    expect(site.api.jobs).toHaveLength(1);
  });
});

describe('a deployment added to the configuration', () => {
  it('is told of the newest export without a publish', async () => {
    const site = await bench({ settings: { deployments: [] } });
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    expect(await site.deployed()).toBeNull();
    site.configure({});
    await site.handle.signal('configChanged');
    await site.until('deployed', ({ deployments }) => deployments[0]?.jobId === site.api.jobs[0]?.jobId);
    expect(site.api.jobs).toHaveLength(1);
  });
});
