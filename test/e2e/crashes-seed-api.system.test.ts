import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { allowedMs, OVERDUE_TIMER_MS, REFUSAL_MS } from '../helpers/allowed-ms.ts';
import { holdAnswer, holdBefore } from '../helpers/system/faults.ts';
import { createGate } from '../helpers/system/gate.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { type SeedSystem, startSeedSystem } from '../helpers/system/seed-system.ts';
import { holdValuesFile } from '../helpers/system/values-lock.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const CREATE = { method: 'POST', path: /\/jobs$/ } as const;

/** How long the sites `waiting` and `stored` wait for another publish. */
const QUIET_PERIOD_MS = 3_000;

// The whole product's crashes, the platform's included, are in crashes.system.test.ts.
describe("a crash of the orchestrator's worker, or of Temporal", () => {
  let system: SeedSystem;
  const scenario = scenarios(() => system);

  const domainOf = (site: string): string => `${site}.example.test`;
  const exports = (site: string): string[] => system.adminApi.exports(domainOf(site));
  /** Requests about the site's jobs: their ids hold the domain. */
  const about = (site: string, method: 'GET' | 'POST') => ({ method, path: new RegExp(`/jobs/.*${domainOf(site)}`) });

  beforeAll(async () => {
    const settings = { quietPeriod: '100ms', maxWait: '2s' };
    const patient = { quietPeriod: `${QUIET_PERIOD_MS}ms`, maxWait: '60s' };
    const sites = { polled: settings, bundled: settings, deployed: settings, waiting: patient, stored: patient };
    system = await startSeedSystem({
      sites: Object.entries(sites).map(([name, each]) => ({ name, domain: domainOf(name), export: each })),
      adminApi: { linkTtlMs: 3_600_000, statusWords: ['queued', 'running'] },
    });
    for (const name of Object.keys(sites)) system.adminApi.edit(domainOf(name), 'edition 1');
  });

  afterAll(async () => {
    await system?.stop();
  });

  /** The worker is killed once `reached`; after its restart the one export is served. */
  const crash = async (site: string, reached: () => boolean | Promise<boolean>, free: () => unknown): Promise<void> => {
    expect((await system.publish(site)).status).toBe(202);
    await waitFor(reached, { describe: 'reached the point of the crash' });
    await system.programs.kill('worker');
    await free();
    expect(await readFile(system.valuesFile(site), 'utf8')).not.toContain('bundleUrl');
    await system.programs.restart('worker');
    await system.untilServed(site, 'home edition 1');
    expect(exports(site)).toEqual(['edition 1']);
  };

  /** Publishes to `waiting`, and waits until its quiet period's timer is Temporal's. */
  const startTimer = async (): Promise<void> => {
    await system.publish('waiting');
    await system.untilPhase('waiting', 'debouncing');
    await waitFor(() => system.temporal.atRest('export:waiting'), { describe: 'waited for the timer', everyMs: 20 });
  };

  scenario('while an export is polled leaves the job to go on', async () => {
    const held = createGate();
    system.proxy.intercept(about('polled', 'GET'), holdBefore(held));
    await crash('polled', () => held.arrivals > 0, held.open);
  });

  scenario('while the bundle is made leaves it to be made again', async () => {
    const held = createGate();
    system.proxy.intercept({ ...about('bundled', 'POST'), times: 1 }, holdAnswer(held));
    await crash('bundled', () => held.arrivals > 0, held.open);
    expect(system.adminApi.bundles(domainOf('bundled'))).toBe(2);
  });

  scenario('between bundle and deploy leaves the deploy to be done', async () => {
    const letGo = await holdValuesFile(system.valuesFile('deployed'));
    await crash('deployed', async () => (await system.state('deployed')).phase === 'deploying', letGo);
  });

  scenario('delays a timer that falls due meanwhile by at most 5 s from the restart', async () => {
    await startTimer();
    const asked = system.proxy.matching(CREATE).length;
    await system.programs.kill('worker');
    await sleep(QUIET_PERIOD_MS + 500);
    const { readyAtMs } = await system.programs.restart('worker');
    const create = await waitFor(() => system.proxy.matching(CREATE)[asked], {
      describe: 'exported after the restart',
    });
    expect(create.atMs - readyAtMs).toBeLessThanOrEqual(allowedMs(OVERDUE_TIMER_MS));
    await system.untilServed('waiting', 'home edition 1');
  });

  scenario("costs a site at most 5 s also in the middle of its workflow's turn", async () => {
    const { raw } = await system.temporal.client.workflow.getHandle('export:waiting').describe();
    const { seconds } = raw.executionConfig?.defaultWorkflowTaskTimeout ?? {};
    expect(Number(seconds) * 1_000).toBeLessThanOrEqual(OVERDUE_TIMER_MS);
  });

  scenario('with its database file kept, refuses webhooks for a while and loses nothing accepted', async () => {
    const held = createGate();
    await system.publish('stored');
    await system.untilServed('stored', 'home edition 1');
    system.adminApi.edit(domainOf('stored'), 'edition 2');
    system.proxy.intercept(about('stored', 'GET'), holdBefore(held));
    await system.publish('stored');
    await waitFor(() => held.arrivals > 0, { describe: 'polled the job' });
    // A publish that was accepted, and whose timer falls due while Temporal is away.
    await startTimer();
    const asked = system.proxy.matching(CREATE).length;
    await system.temporal.kill();
    held.open();

    const sentAtMs = Date.now();
    const refusal = await system.publish('stored');
    expect(Date.now() - sentAtMs).toBeLessThanOrEqual(allowedMs(REFUSAL_MS));
    expect(refusal.status).toBe(503);
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0);
    await sleep(QUIET_PERIOD_MS + 500);
    for (const name of ['api', 'worker']) expect([name, system.programs.get(name).running()]).toEqual([name, true]);
    expect(system.proxy.matching(CREATE)).toHaveLength(asked);

    await system.temporal.restart();
    const restartedAtMs = Date.now();
    const create = await waitFor(() => system.proxy.matching(CREATE)[asked], {
      describe: 'exported after the restart',
    });
    expect(create.atMs - restartedAtMs).toBeLessThanOrEqual(allowedMs(OVERDUE_TIMER_MS));
    await system.untilServed('stored', 'home edition 2');
    expect(exports('stored')).toEqual(['edition 1', 'edition 2']);
    await waitFor(async () => (await system.publish('stored')).status === 202, { describe: 'took webhooks again' });
    await waitFor(() => exports('stored').length === 3, { describe: 'exported what it took' });
  });
});
