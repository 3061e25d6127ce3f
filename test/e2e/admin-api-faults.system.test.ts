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

  scenario('that answers errors, pages of HTML and requests to wait loses and doubles nothing', async () => {
    await publishThrough([
      [{ ...CREATE, times: 1 }, answerWith(502, HTML, '<h1>Bad gateway</h1>')],
      [{ ...CREATE, times: 1 }, answerWith(429, { 'retry-after': '1' })],
      [{ ...READ, times: 2 }, answerWith(500, {}, '{"error":"no such luck"}')],
      [{ ...BUNDLE, times: 1 }, answerWith(503, { 'retry-after': '1' })],
    ]);
  });

  scenario('that accepts a request and drops the connection, or never answers, makes one job only', async () => {
    await publishThrough([
      [{ ...CREATE, times: 1 }, loseAnswer()],
      [{ ...CREATE, times: 1 }, async ({ forward }) => void (await forward())],
      [{ ...READ, times: 1 }, loseAnswer()],
      [{ ...READ, times: 1 }, hang()],
      [{ ...BUNDLE, times: 1 }, loseAnswer()],
    ]);
  });
});
