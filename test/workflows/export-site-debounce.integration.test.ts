import type { SiteBench } from './site-bench.ts';
import { useSkippedDays } from './site-days.ts';

const MINUTE_MS = 60_000;
/** Real milliseconds pass too while a workflow takes its turns: far more of them than a turn needs on a busy machine. */
const SLACK_MS = 25_000;

const settings = { quietPeriod: '5m', maxWait: '30m' };

const days = useSkippedDays();
const { env } = days;
let site: SiteBench;

afterEach(async () => {
  await site.close();
});

async function bench(own: Record<string, unknown> = {}): Promise<SiteBench> {
  site = await days.bench({ ...settings, ...own });
  return site;
}

/** Publishes what the next export is to contain, and tells when. */
async function publish(): Promise<number> {
  const atMs = await env().currentTimeMs();
  site.api.behaviour.content++;
  await site.publish();
  return atMs;
}

/** When each export was started, as the service was asked to. */
const starts = (): number[] => site.api.jobs.map(({ startedAtMs }) => startedAtMs);

async function untilLive(): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if ((await site.state()).phase === 'live') return;
    await env().sleep('20s');
  }
  throw new Error(`never live: ${JSON.stringify(await site.state())}`);
}

function expectAt(startedAtMs: number | undefined, dueAtMs: number): void {
  expect((startedAtMs ?? 0) - dueAtMs).toBeGreaterThanOrEqual(0);
  expect((startedAtMs ?? 0) - dueAtMs).toBeLessThan(SLACK_MS);
}

describe('a burst of publishes', () => {
  it('makes one export, a quiet period after its last one', async () => {
    await bench();
    let lastMs = 0;
    for (let count = 0; count < 6; count++) {
      lastMs = await publish();
      await env().sleep('4m');
      expect(starts()).toEqual([]);
    }
    await env().sleep('2h');
    expect(starts()).toHaveLength(1);
    expectAt(starts()[0], lastMs + 5 * MINUTE_MS);
    expect((await site.deployed())?.content).toBe(6);
  });

  it('that does not end is exported at the longest wait after its first one, and the next burst counts anew', async () => {
    await bench();
    const firstMs = await publish();
    const published = [firstMs];
    for (let count = 0; count < 22; count++) {
      await env().sleep('3m');
      published.push(await publish());
    }
    await env().sleep('1h');
    const [first, second, third, ...others] = starts();
    expectAt(first, firstMs + 30 * MINUTE_MS);
    const nextFirstMs = published.find((atMs) => atMs > (first ?? 0)) ?? 0;
    expectAt(second, nextFirstMs + 30 * MINUTE_MS);
    expectAt(third, (published.at(-1) ?? 0) + 5 * MINUTE_MS);
    expect(others).toEqual([]);
    expect((await site.deployed())?.content).toBe(23);
  });

  it('of resends alone puts nothing off', async () => {
    await bench();
    const publishedMs = await env().currentTimeMs();
    await site.publish({ id: 'same' });
    for (let count = 0; count < 4; count++) {
      await env().sleep('1m');
      await site.publish({ id: 'same' });
    }
    await env().sleep('1h');
    expect(starts()).toHaveLength(1);
    expectAt(starts()[0], publishedMs + 5 * MINUTE_MS);
  });
});

describe('publishes during an export', () => {
  it('with queue are exported next, once, and it is the newest that counts', async () => {
    await bench({ whenBusy: 'queue' });
    site.api.behaviour.jobDurationMs = 60 * MINUTE_MS;
    await publish();
    await env().sleep('10m');
    expect(starts()).toHaveLength(1);
    for (let count = 0; count < 5; count++) {
      await publish();
      await env().sleep('2m');
    }
    await env().sleep('3h');
    await untilLive();
    expect(site.api.jobs.map(({ status, content }) => [status, content])).toEqual([
      ['completed', 1],
      ['completed', 6],
    ]);
    const [first = 0, second = 0] = starts();
    // Its quiet period was over long before: it starts as soon as the end of the first one is known.
    expect(second - first).toBeGreaterThanOrEqual(60 * MINUTE_MS);
    expect(second - first).toBeLessThan(61 * MINUTE_MS);
  });

  it('with cancel replace it while the oldest one is young, and then no more', async () => {
    await bench({ whenBusy: 'cancel' });
    site.api.behaviour.jobDurationMs = 20 * MINUTE_MS;
    const oldestMs = await publish();
    for (let count = 0; count < 40; count++) {
      await env().sleep('6m');
      await publish();
    }
    await env().sleep('2h');
    await untilLive();
    const jobs = site.api.jobs;
    const firstWhole = jobs.findIndex(({ status }) => status === 'completed');
    expect(firstWhole).toBeGreaterThan(0);
    expect(jobs.slice(0, firstWhole).every(({ status }) => status === 'failed')).toBe(true);
    // Never replaced once the oldest has waited for the longest wait, so it is there a job and a quiet period later.
    expect((jobs[firstWhole]?.startedAtMs ?? 0) - oldestMs).toBeLessThan(30 * MINUTE_MS + 5 * MINUTE_MS + SLACK_MS);
    expect((await site.deployed())?.content).toBe(41);
    expect((await site.state()).lastError).toBeNull();
  });

  it('with cancel wait for the job of a service that can not cancel, which is asked once', async () => {
    await bench({ whenBusy: 'cancel' });
    site.api.behaviour.canCancel = false;
    site.api.behaviour.jobDurationMs = 20 * MINUTE_MS;
    await publish();
    await env().sleep('6m');
    for (let count = 0; count < 3; count++) {
      await publish();
      await env().sleep('1m');
    }
    await env().sleep('2h');
    await untilLive();
    expect(site.api.jobs.map(({ status, content }) => [status, content])).toEqual([
      ['completed', 1],
      ['completed', 4],
    ]);
    expect(site.api.calls.filter(({ path }) => path.endsWith('/cancel'))).toHaveLength(1);
  });
});
