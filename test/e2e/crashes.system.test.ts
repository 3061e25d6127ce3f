import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { allowedMs, OVERDUE_TIMER_MS, REFUSAL_MS } from '../helpers/allowed-ms.ts';
import { holdAnswer, holdBefore } from '../helpers/system/faults.ts';
import { createGate } from '../helpers/system/gate.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { edition, SLOW_PAGE, type System, startSystem } from '../helpers/system/system.ts';
import { holdValuesFile } from '../helpers/system/values-lock.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const CREATE = { method: 'POST', path: /\/jobs$/ } as const;
const READ = { method: 'GET', path: /\/jobs\/[^/]+$/ } as const;
const BUNDLE = { method: 'POST', path: /\/bundle$/ } as const;
const ARCHIVE = { method: 'PUT', path: /\/bundles\// } as const;

/** How long the site `waiting` waits for another publish. */
const QUIET_PERIOD_MS = 4_000;

describe('a crash in the middle of an export', () => {
  let system: System;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    const settings = { quietPeriod: '100ms', maxWait: '2s' };
    system = await startSystem({
      sites: {
        ...{ polled: settings, bundled: settings, deployed: settings, crawled: settings, packed: settings },
        ...{ waiting: { quietPeriod: `${QUIET_PERIOD_MS}ms`, maxWait: '60s' }, stored: settings },
      },
      objects: 's3',
    });
  });

  afterAll(async () => {
    await system?.stop();
  });

  /** Publishes a second edition once a first one is served, so that "the newest" means something. */
  const publishSecond = async (site: string, prepare: () => unknown): Promise<void> => {
    await system.publish(site);
    await system.untilServed(site, 'edition 1');
    await system.untilPhase(site, 'live');
    system.origin(site).put('/', edition('edition 2'));
    await prepare();
    expect((await system.publish(site)).status).toBe(202);
  };

  /** Publishes to `waiting`, and waits until its quiet period's timer is Temporal's. */
  const startTimer = async (): Promise<void> => {
    await system.publish('waiting');
    await system.untilPhase('waiting', 'debouncing');
    await waitFor(() => system.temporal.atRest('export:waiting'), { describe: 'waited for the timer', everyMs: 20 });
  };

  const secondJob = async (site: string): Promise<string> =>
    await waitFor(
      async () => {
        const [newest, ...older] = await system.jobs(site);
        return older.length === 1 && newest?.jobId;
      },
      { describe: 'started the second export' },
    );

  /** The job that ran at the crash went on, alone, and is what is served. */
  const expectOneJob = async (site: string, jobId: string): Promise<void> => {
    await system.untilServed(site, 'edition 2');
    const state = await system.untilPhase(site, 'live');
    const [newest, ...older] = await system.jobs(site);
    expect(newest).toMatchObject({ jobId, status: 'completed' });
    expect(older).toHaveLength(1);
    expect(state).toMatchObject({ jobId, version: newest?.version, lastError: null });
  };

  scenario("of the orchestrator's worker while it polls leaves the job to go on", async () => {
    const origin = system.origin('polled');
    let held = createGate();
    await publishSecond('polled', () => {
      held = origin.hold(SLOW_PAGE);
    });
    const jobId = await secondJob('polled');
    const polls = { ...READ, path: new RegExp(`/${jobId}$`) };
    await waitFor(() => held.arrivals > 0 && system.proxy.matching(polls).length > 0, { describe: 'polled the job' });
    await system.programs.kill('worker');
    held.open();
    await waitFor(async () => (await system.jobs('polled'))[0]?.status === 'completed', {
      describe: 'completed the job without the orchestrator',
    });
    await system.programs.restart('worker');
    await expectOneJob('polled', jobId);
  });

  scenario("of the orchestrator's worker while the bundle is made leaves it to be made again", async () => {
    const held = createGate();
    await publishSecond('bundled', () => {
      system.proxy.intercept({ ...BUNDLE, times: 1 }, holdAnswer(held));
    });
    await waitFor(() => held.arrivals > 0, { describe: 'asked for the bundle' });
    const jobId = await secondJob('bundled');
    await system.programs.kill('worker');
    held.open();
    await system.programs.restart('worker');
    await expectOneJob('bundled', jobId);
    const bundles = { ...BUNDLE, path: new RegExp(`/${jobId}/bundle$`) };
    expect(system.proxy.matching(bundles).length).toBeGreaterThan(1);
  });

  scenario("of the orchestrator's worker between bundle and deploy leaves the deploy to be done", async () => {
    const values = async (): Promise<string> => await readFile(system.valuesFile('deployed'), 'utf8');
    let letGo = async (): Promise<void> => {};
    let before = '';
    await publishSecond('deployed', async () => {
      letGo = await holdValuesFile(system.valuesFile('deployed'));
      before = await values();
    });
    await system.untilPhase('deployed', 'deploying');
    const jobId = await secondJob('deployed');
    await system.programs.kill('worker');
    await letGo();
    expect(await values()).toBe(before);
    await system.programs.restart('worker');
    await expectOneJob('deployed', jobId);
  });

  scenario("of the platform's worker while it crawls leaves the crawl to go on", async () => {
    const origin = system.origin('crawled');
    let held = createGate();
    await publishSecond('crawled', () => {
      held = origin.hold(SLOW_PAGE);
    });
    await waitFor(() => held.arrivals > 0, { describe: 'crawled the held page' });
    const jobId = await secondJob('crawled');
    await system.programs.kill('platform-worker');
    held.open();
    expect((await system.jobs('crawled'))[0]?.status).toBe('running');
    await system.programs.restart('platform-worker');
    await expectOneJob('crawled', jobId);
  });

  scenario("of the platform's worker while it packs leaves the archive to be packed again", async () => {
    const held = createGate();
    const written = (): number => system.objectProxy?.matching(ARCHIVE).length ?? 0;
    let before = 0;
    await publishSecond('packed', () => {
      before = written();
      system.objectProxy?.intercept({ ...ARCHIVE, times: 1 }, holdBefore(held));
    });
    await waitFor(() => held.arrivals > 0, { describe: 'wrote the archive' });
    const jobId = await secondJob('packed');
    await system.programs.kill('platform-worker');
    expect((await system.jobs('packed'))[0]?.status).toBe('running');
    await system.programs.restart('platform-worker');
    await expectOneJob('packed', jobId);
    expect(written() - before).toBe(2);
    held.open();
  });

  scenario(
    "of the orchestrator's worker delays a timer that falls due meanwhile by at most 5 s from its restart",
    async () => {
      await startTimer();
      const asked = system.proxy.matching(CREATE).length;
      await system.programs.kill('worker');
      await sleep(QUIET_PERIOD_MS + 500);
      expect(system.proxy.matching(CREATE)).toHaveLength(asked);
      const { readyAtMs } = await system.programs.restart('worker');
      const create = await waitFor(() => system.proxy.matching(CREATE)[asked], {
        describe: 'exported after the restart',
      });
      expect(create.atMs - readyAtMs).toBeLessThanOrEqual(allowedMs(OVERDUE_TIMER_MS));
      await system.untilServed('waiting', 'edition 1');
      expect(await system.jobs('waiting')).toHaveLength(1);
    },
  );

  scenario('of Temporal refuses webhooks for a while and loses nothing that was accepted', async () => {
    const origin = system.origin('stored');
    let held = createGate();
    await publishSecond('stored', () => {
      held = origin.hold(SLOW_PAGE);
    });
    await waitFor(() => held.arrivals > 0, { describe: 'crawled the held page' });
    const jobId = await secondJob('stored');
    await startTimer();
    const dueAtMs = Date.now() + QUIET_PERIOD_MS;
    const asked = system.proxy.matching(CREATE).length;
    await system.temporal.kill();
    held.open();

    const sentAtMs = Date.now();
    const refusal = await system.publish('stored');
    expect(Date.now() - sentAtMs).toBeLessThanOrEqual(allowedMs(REFUSAL_MS));
    expect(refusal.status).toBe(503);
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0);
    await sleep(Math.max(dueAtMs - Date.now(), 0) + 500);
    for (const name of ['api', 'worker', 'platform', 'platform-worker']) {
      expect([name, system.programs.get(name).running()]).toEqual([name, true]);
    }
    expect(system.proxy.matching(CREATE)).toHaveLength(asked);

    await system.temporal.restart();
    const restartedAtMs = Date.now();
    const create = await waitFor(() => system.proxy.matching(CREATE)[asked], {
      describe: 'exported after the restart',
    });
    expect(create.atMs - restartedAtMs).toBeLessThanOrEqual(allowedMs(OVERDUE_TIMER_MS));
    await expectOneJob('stored', jobId);
    origin.put('/', edition('edition 3'));
    await waitFor(async () => (await system.publish('stored')).status === 202, { describe: 'took webhooks again' });
    await system.untilServed('stored', 'edition 3');
  });
});
