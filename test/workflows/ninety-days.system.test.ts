import type { SiteBench } from './site-bench.ts';
import { useSkippedDays } from './site-days.ts';
import { gaps, readSiteHistory } from './site-history.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const { env, bench } = useSkippedDays();

/** A small generator, so that a failing sequence can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function untilPhase(site: SiteBench, phase: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if ((await site.state()).phase === phase) return;
    await env().sleep(10_000);
  }
  throw new Error(`never ${phase}: ${JSON.stringify(await site.state())}`);
}

describe('ninety days of a site', () => {
  it('with publishes at random leave it with a valid link at every instant, in short runs, with nothing lost', async () => {
    const site = await bench();
    const random = randomFrom(Number(process.env.GALLEY_TEST_SEED ?? 20_261_121));
    site.api.behaviour.linkLifetimeMs = 24 * HOUR_MS;
    site.api.behaviour.jobDurationMs = 60_000;
    try {
      const endMs = (await env().currentTimeMs()) + 90 * DAY_MS;
      while ((await env().currentTimeMs()) < endMs) {
        site.api.behaviour.content++;
        await site.publish();
        await env().sleep(random() < 0.2 ? random() * 15 * 60_000 : random() * 4 * DAY_MS);
      }
      await untilPhase(site, 'live');
      const { runLengths, links } = await readSiteHistory(env().client, site.handle.workflowId);
      expect(gaps(links, await env().currentTimeMs())).toEqual([]);
      expect(links.length).toBeGreaterThan(90);
      expect(runLengths.length).toBeGreaterThan(2);
      expect(Math.max(...runLengths)).toBeLessThan(2_000);
      expect((await site.deployed())?.content).toBe(site.api.behaviour.content);
    } finally {
      await site.close();
    }
  });
});

describe('a site whose exports fail for a week', () => {
  it('has a valid link all week, and the newest content once exports work again', async () => {
    const site = await bench();
    site.api.behaviour.linkLifetimeMs = 12 * HOUR_MS;
    try {
      await site.publish();
      await untilPhase(site, 'live');
      site.api.behaviour.succeed = false;
      site.api.behaviour.content = 7;
      await site.publish();
      await env().sleep(7 * DAY_MS);
      expect(await site.state()).toMatchObject({ phase: 'failed', lastError: { message: expect.any(String) } });
      const { links } = await readSiteHistory(env().client, site.handle.workflowId);
      expect(gaps(links, await env().currentTimeMs())).toEqual([]);
      expect(new Set(links.map(({ jobId }) => jobId)).size).toBe(1);
      site.api.behaviour.succeed = true;
      await env().sleep(HOUR_MS);
      await untilPhase(site, 'live');
      expect((await site.deployed())?.content).toBe(7);
    } finally {
      await site.close();
    }
  });

  it('because the service is away calls it no more often than it asked for, and recovers by itself', async () => {
    const site = await bench();
    site.api.behaviour.linkLifetimeMs = 12 * HOUR_MS;
    try {
      await site.publish();
      await untilPhase(site, 'live');
      site.api.behaviour.intercept = () => ({ status: 503, headers: { 'retry-after': '1800' } });
      await env().sleep(2 * DAY_MS);
      const calls = site.api.calls.length;
      expect(calls).toBeLessThan(200);
      expect((await site.state()).lastError?.status).toBe(503);
      site.api.behaviour.intercept = () => undefined;
      await env().sleep(HOUR_MS);
      expect((await site.deployed())?.expiresAtMs).toBeGreaterThan(await env().currentTimeMs());
      expect((await site.state()).lastError).toBeNull();
    } finally {
      await site.close();
    }
  });
});

describe('a service whose links are already expired when they come', () => {
  it('is asked no more often than the shortest interval between two refreshes', async () => {
    const site = await bench();
    site.api.behaviour.linkLifetimeMs = -1_000;
    try {
      await site.publish();
      await untilPhase(site, 'live');
      await env().sleep(HOUR_MS);
      const bundles = site.api.calls.filter(({ path }) => path.endsWith('/bundle'));
      expect(bundles.length).toBeGreaterThan(60);
      expect(bundles.length).toBeLessThanOrEqual(HOUR_MS / 30_000 + 20);
    } finally {
      await site.close();
    }
  });
});
