import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { z } from 'zod';
import { useSites } from './use-sites.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const { server, startSite } = useSites('time-skipping');
const sleep = (ms: number) => server().sleep(ms);

/** A seeded random generator, so that a failing sequence can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('ninety days of a site', () => {
  it('with random publishes keep a valid link at every moment, short runs, and every publish', async () => {
    const site = await startSite();
    const random = randomFrom(Number(process.env.GALLEY_TEST_SEED ?? 20_261_121));
    site.api.behaviour.linkLifetimeMs = 24 * HOUR_MS;
    site.api.behaviour.jobDurationMs = 60_000;
    const endMs = (await server().now()) + 90 * DAY_MS;
    while ((await server().now()) < endMs) {
      site.api.behaviour.content++;
      await site.publish();
      await sleep(random() < 0.2 ? random() * 15 * 60_000 : random() * 4 * DAY_MS);
    }
    await site.until('live', ({ phase }) => phase === 'live');
    const { runLengths, links } = await readSiteHistory(server().client, site.handle.workflowId);
    expect(gaps(links, await server().now())).toEqual([]);
    expect(links.length).toBeGreaterThan(90);
    expect(runLengths.length).toBeGreaterThan(2);
    expect(Math.max(...runLengths)).toBeLessThan(2_000);
    expect((await site.deployed())?.content).toBe(site.api.behaviour.content);
    const keys = site.api.jobs.map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('a site whose exports fail for a week', () => {
  it('has a valid link all week, and the newest content once exports work again', async () => {
    const site = await startSite();
    site.api.behaviour.linkLifetimeMs = 12 * HOUR_MS;
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    site.api.behaviour.succeed = false;
    site.api.behaviour.content = 7;
    await site.publish();
    await sleep(7 * DAY_MS);
    expect(await site.state()).toMatchObject({ phase: 'failed', lastError: { message: expect.any(String) } });
    const { links } = await readSiteHistory(server().client, site.handle.workflowId);
    expect(gaps(links, await server().now())).toEqual([]);
    expect(new Set(links.map(({ jobId }) => jobId)).size).toBe(1);
    site.api.behaviour.succeed = true;
    await sleep(HOUR_MS);
    await site.until('live', ({ phase }) => phase === 'live');
    expect((await site.deployed())?.content).toBe(7);
  });

  it('respects Retry-After if the service is down, and recovers when it is up again', async () => {
    const site = await startSite();
    site.api.behaviour.linkLifetimeMs = 12 * HOUR_MS;
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    site.api.behaviour.intercept = () => ({ status: 503, headers: { 'retry-after': '1800' } });
    await sleep(2 * DAY_MS);
    const calls = site.api.calls.length;
    expect(calls).toBeLessThan(200);
    expect((await site.state()).lastError?.status).toBe(503);
    site.api.behaviour.intercept = () => undefined;
    await sleep(HOUR_MS);
    expect((await site.deployed())?.expiresAtMs).toBeGreaterThan(await server().now());
    expect((await site.state()).lastError).toBeNull();
  });
});

describe('a service that returns expired links', () => {
  it('gets requests at most once per minimum refresh interval', async () => {
    const site = await startSite();
    site.api.behaviour.linkLifetimeMs = -1_000;
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    await sleep(HOUR_MS);
    const bundles = site.api.calls.filter(({ path }) => path.endsWith('/bundle'));
    expect(bundles.length).toBeGreaterThan(60);
    expect(bundles.length).toBeLessThanOrEqual(HOUR_MS / 30_000 + 20);
  });
});

/** A link that was written to a deployment, with the times of its write and its expiry. */
type WrittenLink = { atMs: number; expiresAtMs: number; jobId: string };

type SiteHistory = {
  /** The number of events of each run, oldest run first. */
  runLengths: number[];
  links: WrittenLink[];
};

const write = z.object({ jobId: z.string(), bundleUrl: z.string() });
const report = z.object({ outcome: z.string() });

/** Reads every run of a site's workflow, and the links that they wrote to the deployment. */
async function readSiteHistory(client: Client, workflowId: string): Promise<SiteHistory> {
  const runLengths: number[] = [];
  const links: WrittenLink[] = [];
  let { runId } = await client.workflow.getHandle(workflowId).describe();
  for (;;) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const list = events ?? [];
    runLengths.unshift(list.length);
    const ofRun: WrittenLink[] = [];
    for (const event of list) {
      const completed = event.activityTaskCompletedEventAttributes;
      const scheduled = list.find(({ eventId }) => completed && eventId?.eq(completed.scheduledEventId ?? 0));
      const { activityType, input } = scheduled?.activityTaskScheduledEventAttributes ?? {};
      if (activityType?.name !== 'writeDeployment') continue;
      const { jobId, bundleUrl } = write.parse(defaultPayloadConverter.fromPayload(input?.payloads?.[0] ?? {}));
      const { outcome } = report.parse(defaultPayloadConverter.fromPayload(completed?.result?.payloads?.[0] ?? {}));
      if (outcome !== 'written') continue;
      const { seconds, nanos } = event.eventTime ?? {};
      const atMs = Number(seconds) * 1000 + Math.floor((nanos ?? 0) / 1e6);
      ofRun.push({ atMs, jobId, expiresAtMs: Number(new URL(bundleUrl).searchParams.get('expires')) });
    }
    links.unshift(...ofRun);
    const before = list[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    if (!before) return { runLengths, links };
    runId = before;
  }
}

/** The periods in which the deployment had only an expired link, from its first link until now. */
function gaps(links: readonly WrittenLink[], nowMs: number): { fromMs: number; toMs: number }[] {
  return links.flatMap(({ expiresAtMs }, index) => {
    const nextMs = links[index + 1]?.atMs ?? nowMs;
    return nextMs > expiresAtMs ? [{ fromMs: expiresAtMs, toMs: nextMs }] : [];
  });
}
