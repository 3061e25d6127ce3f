import { Client, Connection } from '@temporalio/client';
import { createWatches } from '../../../api/pages/live.ts';
import type { SiteStatus } from '../../../api/site-status.ts';
import { RECEIVER_CONNECTION } from '../../../api/temporal-connection.ts';
import { configWith, OPERATOR_TOKEN, startApi } from '../running-api.ts';
import { changeState, ruleState } from './sample-pages.tsx';
import { siteStatus } from './site-fixture.ts';

/** Reads that the test resolves in order. */
function scriptedReads() {
  const waiting: ((status: SiteStatus) => void)[] = [];
  const arrivals: (() => void)[] = [];
  const read = () =>
    new Promise<SiteStatus>((resolve) => {
      waiting.push(resolve);
      arrivals.shift()?.();
    });
  const resolveNext = async (status: SiteStatus): Promise<void> => {
    if (waiting.length === 0) await new Promise<void>((resolve) => arrivals.push(resolve));
    waiting.shift()?.(status);
    await new Promise(setImmediate);
  };
  return { read, resolveNext };
}

describe('the viewers of a page', () => {
  it('get no state that is older than the page that they opened', async () => {
    const { read, resolveNext } = scriptedReads();
    const watches = createWatches<SiteStatus>(60_000);
    const phases: Record<string, string[]> = { first: [], second: [] };
    const watch = (name: string) => watches.watch('docs', read, ({ phase }) => phases[name]?.push(phase) !== undefined);
    const stops = [watch('first')];
    // The second viewer joins while a read that started before its page is pending.
    const early = resolveNext(siteStatus({ phase: 'live' }));
    stops.push(watch('second'));
    await early;
    await resolveNext(siteStatus({ phase: 'paused' }));
    expect(phases).toEqual({ first: ['live', 'paused'], second: ['paused'] });
    // The third viewer joins between two reads, and triggers a new one at once.
    phases.third = [];
    stops.push(watch('third'));
    await resolveNext(siteStatus({ phase: 'paused' }));
    expect(phases).toEqual({ first: ['live', 'paused'], second: ['paused'], third: ['paused'] });
    for (const stop of stops) stop?.();
  });

  it('get an unchanged state again if they could not take it', async () => {
    const { read, resolveNext } = scriptedReads();
    const watches = createWatches<SiteStatus>(1);
    const offered: string[] = [];
    const stop = watches.watch('docs', read, ({ phase }) => offered.push(phase) === 3);
    for (let reads = 0; reads < 5; reads += 1) await resolveNext(siteStatus({ phase: 'live' }));
    expect(offered).toEqual(['live', 'live', 'live']);
    stop?.();
  });
});

describe('the pages of a rule and of a change', () => {
  const ID = 'agent:handbook:changelog:1';
  let phase: 'working' | 'merged' = 'working';
  const connection = Connection.lazy({ address: '127.0.0.1:1', ...RECEIVER_CONNECTION });
  const states = {
    // What workflows answer: one rule with one change.
    query: async ({ workflowExecution: { workflowId = '' } }: { workflowExecution: { workflowId?: string } }) =>
      workflowId === ID
        ? changeState({ phase, pullRequest: null })
        : ruleState({ changes: [{ workflowId: ID, startedAt: new Date().toISOString() }] }),
  };
  const client = new Client({ connection, interceptors: { workflow: [states] } });
  const stopping = new AbortController();
  let api: Awaited<ReturnType<typeof startApi>>;
  let cookie: string;

  beforeAll(async () => {
    const config = configWith({ handbook: { agent: [{ name: 'changelog', on: 'publish', prompt: 'Update' }] } });
    api = await startApi({ client, config, stopped: stopping.signal });
    const body = new URLSearchParams({ name: 'Ada', token: OPERATOR_TOKEN });
    const signedIn = await fetch(`${api.url}/ui/sign-in`, { method: 'POST', body, redirect: 'manual' });
    cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  });
  afterAll(async () => {
    stopping.abort();
    await api.stop();
    await connection.close();
  });

  const open = async (page: string) => {
    const { body } = await fetch(`${api.url}${page}/events`, { headers: { cookie } });
    const reader = (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    return {
      async until(wanted: string): Promise<void> {
        for (text = ''; !text.includes(wanted); ) {
          const { value, done } = await reader.read();
          if (done) throw new Error(`it ended before ${wanted}: ${text}`);
          text += value;
        }
      },
      async untilItEnds(): Promise<void> {
        while (!(await reader.read()).done);
      },
    };
  };

  it('show a change as it goes on, until the service stops', async () => {
    const viewers = await Promise.all(
      ['/ui/sites/handbook/rules/changelog', `/ui/changes/${ID}`, `/ui/changes/${ID}`].map(open),
    );
    for (const viewer of viewers) await viewer.until('Agent at work');
    phase = 'merged';
    for (const viewer of viewers) await viewer.until('Merged');
    stopping.abort();
    for (const viewer of viewers) await viewer.untilItEnds();
  });

  it('have no events of a change that does not exist', async () => {
    const { status } = await fetch(`${api.url}/ui/changes/export:handbook/events`, { headers: { cookie } });
    expect(status).toBe(404);
  });
});
