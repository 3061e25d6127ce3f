import { readFile, writeFile } from 'node:fs/promises';
import type { Call, Interception } from '../helpers/admin-api/fake-admin-api.ts';
import type { SiteFixture } from './site-fixture.ts';
import { useSites } from './use-sites.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Tolerance for the real time that passes while a workflow works. */
const SLACK_MS = 3 * MINUTE_MS;

const { startSite, server } = useSites('time-skipping');
const sleep = (ms: number) => server().sleep(ms);

/** Publishes new content, and returns the time. */
async function publishNext(site: SiteFixture): Promise<number> {
  const atMs = await server().now();
  site.api.behaviour.content++;
  await site.publish();
  return atMs;
}

const isStart = ({ method, path }: Call): boolean => method === 'POST' && path === '/v1/static-export/jobs';
const startCalls = (site: SiteFixture): Call[] => site.api.calls.filter(isStart);
const outcomes = (site: SiteFixture) => site.api.jobs.map(({ status, content }) => [status, content]);
const untilLive = (site: SiteFixture) => site.until('live', ({ phase }) => phase === 'live');

/** Intercepts the first `times` starts. */
function firstStarts(times: number, instead: Interception): (call: Call) => Interception {
  let left = times;
  return (call) => (isStart(call) && left-- > 0 ? instead : undefined);
}

function expectAt(startedAtMs: number | undefined, dueAtMs: number): void {
  expect((startedAtMs ?? 0) - dueAtMs).toBeGreaterThanOrEqual(0);
  expect((startedAtMs ?? 0) - dueAtMs).toBeLessThan(SLACK_MS);
}

// debounce.test.ts covers when exports are due. These tests cover the workflow's timers.
describe('publishes', () => {
  const settings = { quietPeriod: '5m', maxWait: '30m' };

  it('in a burst cause one export, a quiet period after the last publish', async () => {
    const site = await startSite(settings);
    let lastMs = 0;
    for (let count = 0; count < 3; count++) {
      lastMs = await publishNext(site);
      await sleep(4 * MINUTE_MS);
      expect(site.api.jobs).toEqual([]);
    }
    await sleep(2 * HOUR_MS);
    expect(outcomes(site)).toEqual([['completed', 3]]);
    expectAt(site.api.jobs[0]?.startedAtMs, lastMs + 5 * MINUTE_MS);
  });

  it('that do not end are exported after the maximum wait since the first one', async () => {
    const site = await startSite({ ...settings, maxWait: '11m' });
    const firstMs = await publishNext(site);
    for (let count = 0; count < 4; count++) {
      await sleep(3 * MINUTE_MS);
      await publishNext(site);
    }
    expectAt(site.api.jobs[0]?.startedAtMs, firstMs + 11 * MINUTE_MS);
    await sleep(HOUR_MS);
    expect(outcomes(site)).toEqual([
      ['completed', 4],
      ['completed', 5],
    ]);
  });

  it('are exported sooner if the configured quiet period becomes shorter', async () => {
    const site = await startSite({ quietPeriod: '7d', maxWait: '7d' });
    await publishNext(site);
    await sleep(DAY_MS);
    expect(await site.state()).toMatchObject({ phase: 'debouncing' });
    site.configure({ quietPeriod: '1m' });
    await site.handle.signal('configChanged');
    await sleep(MINUTE_MS);
    await untilLive(site);
    expect(site.api.jobs).toHaveLength(1);
  });

  it('during an export are exported next, once, with the newest content, with whenBusy: queue', async () => {
    const site = await startSite({ ...settings, whenBusy: 'queue' });
    site.api.behaviour.jobDurationMs = 20 * MINUTE_MS;
    await publishNext(site);
    await sleep(6 * MINUTE_MS);
    for (let count = 0; count < 3; count++) await publishNext(site);
    await sleep(HOUR_MS);
    expect(outcomes(site)).toEqual([
      ['completed', 1],
      ['completed', 4],
    ]);
    // Its quiet period has long passed, so it starts as soon as the first export has ended.
    const [first, second] = site.api.jobs.map(({ startedAtMs }) => startedAtMs);
    expectAt(second, (first ?? 0) + 20 * MINUTE_MS);
  });

  it('during an export replace it until the oldest publish has waited for maxWait, with whenBusy: cancel', async () => {
    const site = await startSite({ ...settings, whenBusy: 'cancel' });
    site.api.behaviour.jobDurationMs = 20 * MINUTE_MS;
    const oldestMs = await publishNext(site);
    for (let count = 0; count < 10; count++) {
      await sleep(6 * MINUTE_MS);
      await publishNext(site);
    }
    await sleep(2 * HOUR_MS);
    const { jobs } = site.api;
    const firstWhole = jobs.findIndex(({ status }) => status === 'completed');
    expect(firstWhole).toBeGreaterThan(0);
    expect(jobs.slice(0, firstWhole).every(({ status }) => status === 'failed')).toBe(true);
    // No export is replaced after maxWait, so the first whole one starts at most a quiet period later.
    expect((jobs[firstWhole]?.startedAtMs ?? 0) - oldestMs).toBeLessThan(35 * MINUTE_MS + SLACK_MS);
    expect((await site.deployed())?.content).toBe(11);
    expect(await site.state()).toMatchObject({ phase: 'live', lastError: null });
  });

  it('wait for the job if the service cannot cancel, after one attempt, with whenBusy: cancel', async () => {
    const site = await startSite({ ...settings, whenBusy: 'cancel' });
    site.api.behaviour.canCancel = false;
    site.api.behaviour.jobDurationMs = 20 * MINUTE_MS;
    await publishNext(site);
    await sleep(6 * MINUTE_MS);
    for (let count = 0; count < 3; count++) {
      await publishNext(site);
      await sleep(MINUTE_MS);
    }
    await sleep(2 * HOUR_MS);
    expect(outcomes(site)).toEqual([
      ['completed', 1],
      ['completed', 4],
    ]);
    expect(site.api.calls.filter(({ path }) => path.endsWith('/cancel'))).toHaveLength(1);
  });
});

describe('a site that was never published', () => {
  it('exports nothing until an export is requested', async () => {
    const site = await startSite();
    await site.start();
    await sleep(7 * DAY_MS);
    const empty = { phase: 'idle', jobId: null, linkExpiresAt: null, nextRefreshAt: null, lastError: null };
    expect(await site.state()).toMatchObject(empty);
    await expect(site.handle.executeUpdate('refreshNow')).rejects.toThrow();
    expect(site.api.calls).toEqual([]);
    await site.handle.executeUpdate('exportNow');
    await untilLive(site);
  });
});

describe('a failing Admin API', () => {
  // test/activities/admin-api/activities.test.ts covers other faults of single calls.
  it('that accepts a job and drops the connection gets the same idempotency key again, and creates one job', async () => {
    const site = await startSite();
    site.api.behaviour.intercept = firstStarts(2, 'drop-after');
    await site.publish();
    await untilLive(site);
    expect(startCalls(site)).toHaveLength(3);
    expect(new Set(startCalls(site).map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(site.api.jobs).toHaveLength(1);
  });

  it('that fails each kind of call, with and without doing the work, creates one job, which is deployed', async () => {
    const site = await startSite();
    const html = { status: 502, body: '<h1>Bad gateway</h1>', headers: { 'content-type': 'text/html' } };
    const limited = { status: 429, headers: { 'retry-after': '1' } };
    const faults: Interception[] = [html, limited, { status: 500 }, 'drop', 'drop-after'];
    const left = new Map(['start', 'job', 'bundle'].map((kind) => [kind, [...faults]]));
    site.api.behaviour.intercept = (call) => {
      const kind = isStart(call) ? 'start' : call.path.endsWith('/bundle') ? 'bundle' : 'job';
      return left.get(kind)?.shift();
    };
    await publishNext(site);
    await site.until('live', ({ phase, lastError }) => phase === 'live' && lastError === null);
    expect([...left.values()]).toEqual([[], [], []]);
    expect(outcomes(site)).toEqual([['completed', 1]]);
    expect((await site.deployed())?.content).toBe(1);
  });

  it('that sends Retry-After gets no request before then, also after a new publish, and the state shows it', async () => {
    const site = await startSite();
    site.api.behaviour.intercept = firstStarts(1, { status: 429, headers: { 'retry-after': '3000' } });
    await site.publish();
    const waiting = await site.until('waiting', ({ lastError }) => lastError !== null);
    expect(waiting).toMatchObject({ phase: 'waiting', lastError: { status: 429 } });
    await site.publish();
    await sleep(2 * HOUR_MS);
    const [refused = 0, accepted = 0] = startCalls(site).map(({ atMs }) => atMs);
    expect(accepted - refused).toBeGreaterThanOrEqual(3_000_000);
    // Up to a fifth later, so that sites with a shared limit don't retry together (shared-limit.test.ts).
    expect(accepted - refused).toBeLessThan(1.2 * 3_000_000 + SLACK_MS);
    expect(await site.state()).toMatchObject({ phase: 'live', lastError: null });
  });

  it('that returns an old job instead of a new one is shown in the state, and gets a new idempotency key', async () => {
    const site = await startSite();
    await publishNext(site);
    await untilLive(site);
    await publishNext(site);
    await site.until('live again', ({ phase }) => phase === 'live' && site.api.jobs.length === 2);
    const [old] = site.api.jobs;
    const body = JSON.stringify({ jobId: old?.jobId, createdAt: new Date(old?.createdAtMs ?? 0).toISOString() });
    site.api.behaviour.intercept = firstStarts(1, { status: 202, body });
    await publishNext(site);
    const refused = await site.until('refused', ({ lastError }) => lastError !== null);
    expect(refused.lastError?.message).toContain(`gave an old export instead of a new one (${old?.jobId} was exported`);
    await site.until('live at last', ({ phase, lastError }) => phase === 'live' && lastError === null);
    expect((await site.deployed())?.content).toBe(3);
    const keys = startCalls(site).map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(4);
  });

  it('whose job fails is shown in the state, and a new publish ends the back-off', async () => {
    const site = await startSite();
    site.api.behaviour.succeed = false;
    await site.publish();
    const failed = await site.until('failed', ({ phase }) => phase === 'failed');
    expect(failed.lastError?.message).toContain('failed');
    site.api.behaviour.succeed = true;
    await site.publish();
    expect((await untilLive(site)).lastError).toBeNull();
    const keys = startCalls(site).map(({ idempotencyKey }) => idempotencyKey);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(2);
  });

  it('whose job never ends has it canceled after the timeout, and a new job is started', async () => {
    const site = await startSite({ timeout: '30m' });
    site.api.behaviour.jobDurationMs = 30 * DAY_MS;
    await site.publish();
    await sleep(25 * MINUTE_MS);
    expect(await site.state()).toMatchObject({ phase: 'exporting', lastError: null });
    await sleep(5 * MINUTE_MS);
    const failed = await site.until('timed out', ({ phase }) => phase === 'failed');
    expect(failed.lastError?.message).toContain("didn't end within 30m");
    expect(site.api.jobs[0]?.status).toBe('failed');
    site.api.behaviour.jobDurationMs = 0;
    await site.handle.executeUpdate('exportNow');
    await untilLive(site);
    expect(site.api.jobs).toHaveLength(2);
  });

  it('whose bundle is gone gets a new export', async () => {
    const site = await startSite();
    await site.publish();
    await untilLive(site);
    const { jobId } = await site.state();
    site.api.behaviour.intercept = ({ path }) => (path.endsWith(`${jobId}/bundle`) ? { status: 410 } : undefined);
    await site.handle.executeUpdate('refreshNow').catch(() => {});
    const isServed = ({ phase, lastError }: { phase: string; lastError: unknown }) =>
      phase === 'live' && lastError === null && site.api.jobs.length === 2;
    const live = await site.until('live again', isServed);
    expect((await site.deployed())?.jobId).toBe(live.jobId);
  });
});

describe('a rejected API key', () => {
  it.each(['a new publish', 'an announced configuration'])('stops the export until %s', async (event) => {
    const site = await startSite();
    site.api.behaviour.intercept = () => ({ status: 401, body: '{"error":"unknown key"}' });
    await site.publish();
    const refused = await site.until('refused', ({ phase }) => phase === 'failed');
    expect(refused.lastError).toMatchObject({ status: 401, message: expect.stringContaining('unknown key') });
    // The back-off is 5 minutes (transitions.test.ts).
    await sleep(MINUTE_MS);
    expect(site.api.calls).toHaveLength(1);
    site.api.behaviour.intercept = () => undefined;
    const restoredAtMs = await server().now();
    if (event === 'a new publish') await site.publish();
    else await site.handle.signal('configChanged');
    await site.until('live', ({ phase, lastError }) => phase === 'live' && lastError === null);
    expectAt(site.api.jobs[0]?.startedAtMs, restoredAtMs);
  });

  it('makes a due refresh retry every 5 to 60 s until the key works again', async () => {
    const site = await startSite();
    site.api.behaviour.linkLifetimeMs = HOUR_MS;
    await site.publish();
    const live = await untilLive(site);
    const before = site.api.calls.length;
    site.api.behaviour.intercept = () => ({ status: 401 });
    await sleep(HOUR_MS);
    expect(await site.state()).toMatchObject({ lastError: { status: 401 }, linkExpiresAt: live.linkExpiresAt });
    const tries = site.api.calls.slice(before).map(({ atMs }) => atMs);
    const pausesMs = tries.slice(1).map((atMs, index) => atMs - (tries[index] ?? 0));
    expect(pausesMs.length).toBeGreaterThan(5);
    expect(Math.min(...pausesMs)).toBeGreaterThanOrEqual(5_000);
    expect(Math.max(...pausesMs)).toBeLessThan(MINUTE_MS + SLACK_MS);
    site.api.behaviour.intercept = () => undefined;
    await sleep(2 * MINUTE_MS);
    const recovered = await site.state();
    expect(recovered.lastError).toBeNull();
    expect(Date.parse(recovered.linkExpiresAt ?? '')).toBeGreaterThan(await server().now());
  });
});

describe('a deployment with a newer sequence number than its workflow', () => {
  it('is still written, as after the workflow was restored from a backup', async () => {
    const site = await startSite();
    await site.publish();
    await untilLive(site);
    const sidecar = `${site.valuesFile}.galley.json`;
    const seen: unknown = JSON.parse(await readFile(sidecar, 'utf8'));
    await writeFile(sidecar, JSON.stringify({ ...Object(seen), sequence: 5_000 }));
    await publishNext(site);
    await site.until('live again', ({ phase, jobId }) => phase === 'live' && jobId === site.api.jobs[1]?.jobId);
    expect((await site.deployed())?.content).toBe(1);
  });
});
