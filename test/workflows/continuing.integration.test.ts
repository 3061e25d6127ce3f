import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../helpers/system/wait-for.ts';
import { useDevServer } from './dev-server-benches.ts';
import type { SiteBench } from './site-bench.ts';

const { bench } = useDevServer();

/**
 * Publishes one after the other until the workflow has continued as new; tells how many that took. On a slow machine
 * each turn finds another publish waiting, and the run can only end once they pause.
 */
async function publishUntilContinued(site: SiteBench, limit = 1_200): Promise<number> {
  const { runId } = await site.handle.describe();
  for (let count = 1; count <= limit; count++) {
    site.api.behaviour.content++;
    await site.publish();
    await sleep(15);
    if (count % 25 === 0 && (await site.handle.describe()).runId !== runId) return count;
  }
  await waitFor(async () => (await site.handle.describe()).runId !== runId, { describe: 'continued as new' });
  return limit;
}

async function runs(site: SiteBench): Promise<number[]> {
  const lengths: number[] = [];
  let { runId } = await site.handle.describe();
  for (;;) {
    const handle = site.handle.client.getHandle(site.handle.workflowId, runId);
    const { events } = await handle.fetchHistory();
    lengths.unshift(events?.length ?? 0);
    const from = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    if (!from) return lengths;
    runId = from;
  }
}

describe('a workflow that continues as new', () => {
  it('while an export is polled goes on with the same job and loses no publish', async () => {
    const site = await bench();
    site.api.behaviour.jobDurationMs = 3_600_000;
    await site.publish({ id: 'very first' });
    await site.until('exporting', ({ phase, jobId }) => phase === 'exporting' && jobId !== null);
    await publishUntilContinued(site);
    expect(site.api.jobs).toHaveLength(1);
    expect(await site.state()).toMatchObject({ phase: 'exporting', jobId: site.api.jobs[0]?.jobId });
    site.api.behaviour.jobDurationMs = 500;
    await site.until('live with all', ({ phase }) => phase === 'live' && site.api.jobs.length === 2);
    expect((await site.deployed())?.content).toBe(site.api.behaviour.content);
    await site.publish({ id: 'very first' });
    await site.until('told', ({ deliveries }) => deliveries[0]?.outcome === 'duplicate');
    expect(Math.max(...(await runs(site)))).toBeLessThan(2_000);
  });

  it('while it debounces, exports and deploys in between ends with the newest content served', async () => {
    const site = await bench({ settings: { quietPeriod: '50ms', maxWait: '400ms' } });
    site.api.behaviour.linkLifetimeMs = 5_000;
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    await publishUntilContinued(site);
    await publishUntilContinued(site);
    await site.until('live with all', ({ phase, lastError }) => phase === 'live' && lastError === null);
    expect((await site.deployed())?.content).toBe(site.api.behaviour.content);
    const sequences = site.api.jobs.map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(sequences).size).toBe(sequences.length);
    expect((await runs(site)).length).toBeGreaterThanOrEqual(3);
  });

  it('keeps a pause, and answers updates sent meanwhile', async () => {
    const site = await bench();
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    await site.handle.executeUpdate('pause');
    const publishing = publishUntilContinued(site);
    const refreshes = await Promise.all([1, 2, 3].map(() => site.handle.executeUpdate('refreshNow')));
    expect(refreshes).toHaveLength(3);
    await publishing;
    expect(await site.state()).toMatchObject({ phase: 'paused' });
    await site.handle.executeUpdate('resume');
    await site.until('live with all', ({ phase }) => phase === 'live' && site.api.jobs.length === 2);
    expect((await site.deployed())?.content).toBe(site.api.behaviour.content);
  });
});

describe('a worker that is stopped', () => {
  it('while an export is polled leaves the job to the next worker', async () => {
    const site = await bench();
    site.api.behaviour.jobDurationMs = 4_000;
    await site.publish();
    await site.until('exporting', ({ jobId }) => jobId !== null);
    await site.stopWorker();
    site.api.behaviour.content = 2;
    await site.publish();
    await site.startWorker();
    await site.until('live with both', ({ phase }) => phase === 'live' && site.api.jobs.length === 2);
    expect((await site.deployed())?.content).toBe(2);
  });
});
