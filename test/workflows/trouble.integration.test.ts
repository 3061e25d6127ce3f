import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { useDevServer } from './dev-server-benches.ts';
import type { Interception, SmallCall } from './small-admin-api.ts';

const { bench } = useDevServer();

const isStart = ({ method, path }: SmallCall): boolean => method === 'POST' && path === '/v1/static-export/jobs';
const isBundle = ({ path }: SmallCall): boolean => path.endsWith('/bundle');

/** Intercepts the first `times` calls of a kind. */
function first(
  times: number,
  kind: (call: SmallCall) => boolean,
  instead: Interception,
): (call: SmallCall) => Interception {
  let left = times;
  return (call) => (kind(call) && left-- > 0 ? instead : undefined);
}

describe('an Admin API in trouble', () => {
  it.each([
    ['answers 500 with an HTML page', { status: 500, body: '<html>', headers: { 'content-type': 'text/html' } }],
    ['answers 502', { status: 502, body: '' }],
    ['drops the connection', 'drop'],
    ['drops the connection after it accepted the job', 'drop-after'],
    ['cuts its answer', { status: 202, body: '{"jobId": "se_00' }],
  ] as const)('that %s gets one job and one deployment all the same', async (_, instead) => {
    const site = await bench();
    site.api.behaviour.intercept = first(2, isStart, instead);
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    expect(site.api.jobs).toHaveLength(1);
    expect(new Set(site.api.calls.filter(isStart).map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  it('that asks for rest is left alone until the time it named', async () => {
    const site = await bench();
    site.api.behaviour.intercept = first(1, isStart, { status: 429, headers: { 'retry-after': '4' } });
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    const [refused, accepted] = site.api.calls.filter(isStart);
    expect((accepted?.atMs ?? 0) - (refused?.atMs ?? 0)).toBeGreaterThanOrEqual(4_000);
  });

  it('that asks for a long rest is not called sooner for a new publish, and the state tells', async () => {
    const site = await bench();
    site.api.behaviour.intercept = first(1, isStart, { status: 429, headers: { 'retry-after': '3000' } });
    await site.publish();
    const waiting = await site.until('waiting', ({ lastError }) => lastError !== null);
    expect(waiting).toMatchObject({ phase: 'failed', lastError: { status: 429 } });
    await site.publish();
    await sleep(1_500);
    expect(site.api.calls.filter(isStart)).toHaveLength(1);
  });

  it('whose job fails is told in the state, and a new publish ends the back-off', async () => {
    const site = await bench();
    site.api.behaviour.succeed = false;
    await site.publish();
    const failed = await site.until('failed', ({ phase }) => phase === 'failed');
    expect(failed.lastError?.message).toContain('failed');
    site.api.behaviour.succeed = true;
    await site.publish();
    const live = await site.until('live', ({ phase }) => phase === 'live');
    expect(live.lastError).toBeNull();
    const keys = site.api.calls.filter(isStart).map(({ idempotencyKey }) => idempotencyKey?.split(':').slice(1));
    expect(keys).toEqual([
      ['1', '1'],
      ['1', '2'],
    ]);
  });

  it('whose job never ends is given up after the timeout, cancelled, and tried again with a new job', async () => {
    const site = await bench({ settings: { timeout: '3s' } });
    site.api.behaviour.jobDurationMs = 3_600_000;
    await site.publish();
    const failed = await site.until('given up', ({ phase }) => phase === 'failed');
    expect(failed.lastError?.message).toContain("didn't end within 3s");
    expect(site.api.jobs[0]?.status).toBe('failed');
    site.api.behaviour.jobDurationMs = 0;
    await site.handle.executeUpdate('exportNow');
    await site.until('live', ({ phase }) => phase === 'live');
    expect(site.api.jobs).toHaveLength(2);
  });

  it('whose bundle is gone gets asked for a new export', async () => {
    const site = await bench();
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    site.api.behaviour.intercept = (call) =>
      isBundle(call) && call.path.includes('0001/') ? { status: 410, body: '{"error":"deleted"}' } : undefined;
    await site.handle.executeUpdate('refreshNow').catch(() => {});
    const live = await site.until('live anew', ({ phase }) => phase === 'live' && site.api.jobs.length === 2);
    expect((await site.deployed())?.jobId).toBe(live.jobId);
    await site.until('without an error', ({ lastError }) => lastError === null);
  });
});

describe('a refused key', () => {
  it('stops the export without retries, shows in the state, and a new publish tries again', async () => {
    const site = await bench();
    site.api.behaviour.intercept = () => ({ status: 401, body: '{"error":"unknown key"}' });
    await site.publish();
    const refused = await site.until('refused', ({ phase }) => phase === 'failed');
    expect(refused.lastError).toMatchObject({ status: 401, message: expect.stringContaining('unknown key') });
    await sleep(2_500);
    expect(site.api.calls).toHaveLength(1);
    site.api.behaviour.intercept = () => undefined;
    await site.publish();
    await site.until('live', ({ phase, lastError }) => phase === 'live' && lastError === null);
    expect(site.api.jobs).toHaveLength(1);
  });

  it('keeps the refresh trying while the link is due, and the link is fresh once the key is mended', async () => {
    const site = await bench();
    site.api.behaviour.linkLifetimeMs = 3_000;
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    site.api.behaviour.intercept = () => ({ status: 401 });
    const broken = await site.until('refused', ({ lastError }) => lastError?.status === 401);
    const refusedCalls = site.api.calls.length;
    site.api.behaviour.intercept = () => undefined;
    site.api.behaviour.linkLifetimeMs = 60_000;
    const mended = await site.until('mended', ({ lastError }) => lastError === null);
    expect(Date.parse(mended.linkExpiresAt ?? '')).toBeGreaterThan(Date.parse(broken.linkExpiresAt ?? ''));
    const again = site.api.calls[refusedCalls];
    expect((again?.atMs ?? 0) - (site.api.calls[refusedCalls - 1]?.atMs ?? 0)).toBeGreaterThan(4_000);
  });

  it('is tried again at once when a worker announces a new configuration', async () => {
    const site = await bench();
    site.api.behaviour.intercept = () => ({ status: 403 });
    await site.publish();
    await site.until('refused', ({ phase }) => phase === 'failed');
    site.api.behaviour.intercept = () => undefined;
    await site.stopWorker();
    await site.startWorker();
    await site.until('live', ({ phase }) => phase === 'live');
  });
});

describe('a deployment that can not be told', () => {
  it('because it saw later writes of this workflow, which was since restored, is told after all', async () => {
    const site = await bench();
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    const sidecar = `${site.valuesFile}.galley.json`;
    const seen: unknown = JSON.parse(await readFile(sidecar, 'utf8'));
    await writeFile(sidecar, JSON.stringify({ ...Object(seen), sequence: 5_000 }));
    site.api.behaviour.content = 2;
    await site.publish();
    await site.until('live again', ({ phase, jobId }) => phase === 'live' && jobId === site.api.jobs[1]?.jobId);
    expect((await site.deployed())?.content).toBe(2);
  });

  it('shows its error and is told once it can be', async () => {
    const site = await bench();
    await mkdir(site.valuesFile);
    await site.publish();
    const failed = await site.until('failed', ({ phase }) => phase === 'failed');
    expect(failed.deployments[0]?.error).toContain('EISDIR');
    await rmdir(site.valuesFile);
    await site.until('live', ({ phase }) => phase === 'live');
    expect(await site.deployed()).not.toBeNull();
    expect(site.api.jobs).toHaveLength(1);
  });
});
