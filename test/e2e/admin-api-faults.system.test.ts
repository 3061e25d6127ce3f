import { answerWith, hang, loseAnswer } from '../helpers/system/faults.ts';
import type { Behaviour, Interception } from '../helpers/system/intercepting-proxy.ts';
import { scenarios } from '../helpers/system/scenario.ts';
import { edition, type System, startSystem } from '../helpers/system/system.ts';

const CREATE = { method: 'POST', path: /\/jobs$/ } as const;
const READ = { method: 'GET', path: /\/jobs\/[^/]+$/ } as const;
const BUNDLE = { method: 'POST', path: /\/bundle$/ } as const;

const HTML = { 'content-type': 'text/html' };

describe('a failing Admin API', () => {
  let system: System;
  let published = 0;
  const scenario = scenarios(() => system);

  beforeAll(async () => {
    system = await startSystem({ sites: { docs: { quietPeriod: '100ms', maxWait: '2s' } } });
  });

  afterAll(async () => {
    await system?.stop();
  });

  /** Publishes a new edition while the faults last, and expects one new job, deployed. */
  const publishThrough = async (faults: readonly (readonly [Interception, Behaviour])[]): Promise<void> => {
    published += 1;
    for (const [kind, behaviour] of faults) system.proxy.intercept(kind, behaviour);
    system.origin('docs').put('/', edition(`edition after ${published} faults`));
    expect((await system.publish('docs')).status).toBe(202);
    await system.untilServed('docs', `edition after ${published} faults`);
    const state = await system.untilPhase('docs', 'live');
    const jobs = await system.jobs('docs');
    expect(jobs.map(({ status }) => status)).toEqual(new Array(published).fill('completed'));
    expect(state).toMatchObject({ jobId: jobs[0]?.jobId, version: jobs[0]?.version, lastError: null });
  };

  scenario('that answers 500 and 502 with pages of HTML loses and doubles nothing', async () => {
    await publishThrough([
      [{ ...CREATE, times: 2 }, answerWith(502, HTML, '<h1>Bad gateway</h1>')],
      [{ ...READ, times: 2 }, answerWith(500, {}, '{"error":"no such luck"}')],
      [{ ...BUNDLE, times: 1 }, answerWith(500, HTML, '')],
    ]);
  });

  scenario('that asks for rest is left alone for as long as it asked', async () => {
    const before = { create: system.proxy.matching(CREATE).length, bundle: system.proxy.matching(BUNDLE).length };
    await publishThrough([
      [{ ...CREATE, times: 1 }, answerWith(429, { 'retry-after': '4' })],
      [{ ...BUNDLE, times: 1 }, answerWith(503, { 'retry-after': '3' })],
    ]);
    const pauseMs = (kind: Interception, from: number): number => {
      const [first, second] = system.proxy.matching(kind).slice(from);
      return (second?.atMs ?? 0) - (first?.atMs ?? 0);
    };
    expect(pauseMs(CREATE, before.create)).toBeGreaterThanOrEqual(4_000);
    expect(pauseMs(BUNDLE, before.bundle)).toBeGreaterThanOrEqual(3_000);
  });

  scenario('that accepts a create and drops the connection makes one job only', async () => {
    await publishThrough([
      [{ ...CREATE, times: 2 }, loseAnswer()],
      [{ ...READ, times: 1 }, loseAnswer()],
      [{ ...BUNDLE, times: 1 }, loseAnswer()],
    ]);
  });

  scenario('that accepts a create and never answers makes one job only', async () => {
    await publishThrough([
      [
        { ...CREATE, times: 1 },
        async ({ forward }) => {
          await forward();
        },
      ],
      [{ ...READ, times: 1 }, hang()],
    ]);
  });
});
