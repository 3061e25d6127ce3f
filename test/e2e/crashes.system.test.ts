import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { lock } from 'proper-lockfile';
import { holdAnswer } from '../helpers/system/faults.ts';
import { createGate } from '../helpers/system/gate.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { domainOf, edition, SLOW_PAGE, type System, startSystem } from '../helpers/system/system.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const CREATE = { method: 'POST', path: /\/jobs$/ } as const;
const READ = { method: 'GET', path: /\/jobs\/[^/]+$/ } as const;
const BUNDLE = { method: 'POST', path: /\/bundle$/ } as const;

/** The quiet period of the site `waiting`. */
const QUIET_PERIOD_MS = 4_000;

/** The documented bound for an overdue timer after a restart. It is also the quiet period of the site `later`. */
const OVERDUE_TIMER_MS = 5_000;

// Crashes of the platform's worker: test/platform/workflows/static-export-job-killed.system.test.ts.
describe('a crash in the middle of an export', () => {
  let system: System;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    const settings = { quietPeriod: '100ms', maxWait: '2s' };
    system = await startSystem({
      sites: {
        ...{ polled: settings, bundled: settings, deployed: settings, stored: settings },
        waiting: { quietPeriod: `${QUIET_PERIOD_MS}ms`, maxWait: '60s' },
        later: { quietPeriod: `${OVERDUE_TIMER_MS}ms`, maxWait: '60s' },
      },
    });
  });

  afterAll(() => system?.stop());

  /** Publishes a second edition after the first one is served, so that tests can tell which one is newest. */
  const publishSecond = async (site: string, prepare: () => unknown): Promise<void> => {
    await system.publish(site);
    await system.untilServed(site, 'edition 1');
    await system.untilPhase(site, 'live');
    system.origin(site).put('/', edition('edition 2'));
    await prepare();
    expect((await system.publish(site)).status).toBe(202);
  };

  /** Publishes to `waiting` and waits until Temporal holds the timer of its quiet period. */
  const startTimer = async (): Promise<void> => {
    await system.publish('waiting');
    await system.untilPhase('waiting', 'debouncing');
    await waitFor(() => system.temporal.atRest('export:waiting'), { describe: 'waited for the timer', everyMs: 20 });
  };

  /** A restarted worker asks for the form of the API by a start with a domain that is no text. */
  const starts = () => system.proxy.matching(CREATE).filter(({ body }) => body.includes('"domain":"'));

  /** Resolves with the site whose export is requested next. After a restart, an overdue one precedes `later`. */
  const nextExport = async (exportCount: number): Promise<string> => {
    await waitFor(async () => (await system.publish('later')).status === 202, { describe: 'accepted a publish' });
    const create = await waitFor(() => starts()[exportCount], { describe: 'started an export' });
    await waitFor(() => starts()[exportCount + 1], { describe: 'started the later export' });
    return create.body.includes(domainOf('waiting')) ? 'waiting' : 'later';
  };

  /** Whether the timer that the workflow waits for has fired. */
  const timerFired = async (workflowId: string): Promise<boolean> => {
    const { events } = await system.temporal.client.workflow.getHandle(workflowId).fetchHistory();
    const of = (kind: 'timerStartedEventAttributes' | 'timerFiredEventAttributes'): number =>
      (events ?? []).filter((event) => event[kind]).length;
    return of('timerFiredEventAttributes') === of('timerStartedEventAttributes');
  };

  const secondJob = async (site: string): Promise<string> =>
    await waitFor(
      async () => {
        const [newest, ...older] = await system.jobs(site);
        return older.length === 1 && newest?.jobId;
      },
      { describe: 'started the second export' },
    );

  /** Expects that the job that ran at the crash continued, that no other job started, and that its bundle is served. */
  const expectOneJob = async (site: string, jobId: string): Promise<void> => {
    await system.untilServed(site, 'edition 2');
    const state = await system.untilPhase(site, 'live');
    const [newest, ...older] = await system.jobs(site);
    expect(newest).toMatchObject({ jobId, status: 'completed' });
    expect(older).toHaveLength(1);
    expect(state).toMatchObject({ jobId, version: newest?.version, lastError: null });
  };

  scenario("of the orchestrator's worker while it polls lets the job continue", async () => {
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

  scenario("of the orchestrator's worker during the bundle request leads to another bundle request", async () => {
    const held = createGate();
    await publishSecond('bundled', () => {
      system.proxy.intercept({ ...BUNDLE, times: 1 }, holdAnswer(held));
    });
    await waitFor(() => held.arrivals > 0, { describe: 'requested the bundle' });
    const jobId = await secondJob('bundled');
    await system.programs.kill('worker');
    held.open();
    await system.programs.restart('worker');
    await expectOneJob('bundled', jobId);
    const bundles = { ...BUNDLE, path: new RegExp(`/${jobId}/bundle$`) };
    expect(system.proxy.matching(bundles).length).toBeGreaterThan(1);
  });

  scenario("of the orchestrator's worker between bundle and deploy delays the deploy until the restart", async () => {
    const values = async (): Promise<string> => await readFile(system.valuesFile('deployed'), 'utf8');
    let release = async (): Promise<void> => {};
    let before = '';
    await publishSecond('deployed', async () => {
      release = await holdValuesFile(system.valuesFile('deployed'));
      before = await values();
    });
    await system.untilPhase('deployed', 'deploying');
    const jobId = await secondJob('deployed');
    await system.programs.kill('worker');
    await release();
    expect(await values()).toBe(before);
    await system.programs.restart('worker');
    await expectOneJob('deployed', jobId);
  });

  scenario("of the orchestrator's worker delays a timer that falls due meanwhile by at most 5 s", async () => {
    await startTimer();
    const exportCount = starts().length;
    await system.programs.kill('worker');
    await waitFor(() => timerFired('export:waiting'), { describe: 'fired the timer' });
    expect(starts()).toHaveLength(exportCount);
    await system.programs.restart('worker');
    expect(await nextExport(exportCount)).toBe('waiting');
    await system.untilServed('waiting', 'edition 1');
    expect(await system.jobs('waiting')).toHaveLength(1);
  });

  scenario("of the orchestrator's worker during a workflow task delays the site by at most 5 s", async () => {
    const { raw } = await system.temporal.client.workflow.getHandle('export:waiting').describe();
    const { seconds } = raw.executionConfig?.defaultWorkflowTaskTimeout ?? {};
    expect(Number(seconds) * 1_000).toBeLessThanOrEqual(OVERDUE_TIMER_MS);
  });

  scenario('of Temporal rejects webhooks meanwhile and loses no accepted delivery', async () => {
    const origin = system.origin('stored');
    let held = createGate();
    await publishSecond('stored', () => {
      held = origin.hold(SLOW_PAGE);
    });
    await waitFor(() => held.arrivals > 0, { describe: 'crawled the held page' });
    const jobId = await secondJob('stored');
    await startTimer();
    const dueAtMs = Date.now() + QUIET_PERIOD_MS;
    const exportCount = starts().length;
    await system.temporal.kill();
    held.open();

    const rejected = await system.publish('stored');
    expect(rejected.status).toBe(503);
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
    // No event reports that a timer is due while Temporal is down, so wait by the clock.
    await sleep(Math.max(dueAtMs - Date.now(), 0));
    for (const name of ['api', 'worker', 'platform', 'platform-worker']) {
      expect([name, system.programs.get(name).running()]).toEqual([name, true]);
    }
    expect(starts()).toHaveLength(exportCount);

    await system.temporal.restart();
    expect(await nextExport(exportCount)).toBe('waiting');
    await expectOneJob('stored', jobId);
    origin.put('/', edition('edition 3'));
    await waitFor(async () => (await system.publish('stored')).status === 202, { describe: 'accepted webhooks again' });
    await system.untilServed('stored', 'edition 3');
  });
});

/** Locks a values file like another writer, so that a deploy waits. Resolves with the function that unlocks it. */
async function holdValuesFile(path: string): Promise<() => Promise<void>> {
  return await lock(path, { realpath: false, stale: 10_000, update: 1_000 });
}
