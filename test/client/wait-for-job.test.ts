import { createAdminApiClient, type ExportJob } from '../../client/admin-api-client.ts';
import { type Scripted, useScriptedServers } from '../helpers/admin-api/scripted-server.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const startServer = useScriptedServers();

async function service(...script: Scripted[]) {
  const server = await startServer(script);
  return { server, client: createAdminApiClient({ url: server.url, key: 'galley_secret', retry: false }) };
}

const job = (status: string, progress: number): Scripted => ({ status: 200, body: { status, progress } });
const pollDelayMs = (): number => 1;

describe('waiting for a job', () => {
  it.each(['completed', 'failed'])('polls until it is %s, and reports its progress', async (end) => {
    const { server, client } = await service(job('queued', 0), job('paused?', 40), job(end, 100));
    const seen: ExportJob[] = [];
    const ended = await client.waitForJob('se_1', { pollDelayMs, onProgress: (each) => seen.push(each) });
    expect(ended).toMatchObject({ jobId: 'se_1', status: end });
    expect(seen.map(({ status, progress }) => [status, progress])).toEqual([
      ['queued', 0],
      ['running', 40],
      [end, 100],
    ]);
    expect(server.received).toHaveLength(3);
  });

  it('of an agent ends when it is no longer active', async () => {
    const { client } = await service(job('active', 0), job('thinking', 0), job('archived', 0));
    const ended = await client.waitForAgentJob({ projectId: 'p', id: 'a' }, { pollDelayMs });
    expect(ended).toMatchObject({ id: 'a', status: 'archived' });
  });

  it('continues after temporary failures of the service', async () => {
    const limited: Scripted = { status: 429, headers: { 'retry-after': '0.01' } };
    const { server, client } = await service('reset', { status: 500 }, limited, 'cut', job('completed', 100));
    await expect(client.waitForJob('se_1', { pollDelayMs })).resolves.toMatchObject({ status: 'completed' });
    expect(server.received).toHaveLength(5);
  });

  it.each([401, 404])('ends with a permanent failure: %i', async (status) => {
    const { client } = await service(job('running', 1), { status });
    await expect(client.waitForJob('se_1', { pollDelayMs })).rejects.toMatchObject({ status });
  });

  describe('at polls that are far apart', () => {
    const realNow = performance.now;
    let polls = 0;
    afterEach(() => {
      performance.now = realNow;
    });

    /** The options of a wait whose clock advances by this much at each poll. */
    function pollsApart(ms: number) {
      const startedMs = performance.now();
      polls = 0;
      performance.now = () => startedMs + polls * ms;
      return { pollDelayMs: () => Math.sign(++polls) };
    }

    it('ends with a failure that persists for more than a minute', async () => {
      const { client } = await service({ status: 500 });
      await expect(client.waitForJob('se_1', pollsApart(25_000))).rejects.toMatchObject({ status: 500 });
      expect(polls).toBe(3);
    });

    it('continues after one failure that follows a pause of more than a minute', async () => {
      const { client } = await service(job('running', 1), { status: 500 }, job('completed', 100));
      await expect(client.waitForJob('se_1', pollsApart(90_000))).resolves.toMatchObject({ status: 'completed' });
    });
  });

  it('ends at its timeout, also in the middle of a request', async () => {
    const { client } = await service(job('running', 1), 'silence');
    const wait = client.waitForJob('se_1', { pollDelayMs, timeoutMs: 100 });
    await expect(wait).rejects.toMatchObject({
      name: 'AdminApiError',
      message: 'se_1: not ended within 0.1 s',
      status: null,
    });
  });

  it.each<[string, Scripted]>([
    ['a request', 'silence'],
    ['a pause', { status: 200, headers: { 'retry-after': '60' }, body: { status: 'running' } }],
  ])("ends with its signal's reason, also in %s", async (_, last) => {
    const { server, client } = await service(job('running', 1), last);
    const stop = new AbortController();
    const wait = client.waitForJob('se_1', {
      pollDelayMs: () => {
        if (server.received.length === 2) setImmediate(() => stop.abort(new Error('enough')));
        return 1;
      },
      signal: stop.signal,
    });
    const rejected = expect(wait).rejects.toThrow('enough');
    if (last === 'silence') {
      await waitFor(() => server.received.length === 2, { describe: 'the request without a response' });
      stop.abort(new Error('enough'));
    }
    await rejected;
    expect(server.received).toHaveLength(2);
  });

  it('polls often at first, and later every five seconds', async () => {
    const delays: number[] = [];
    const { client } = await service(job('running', 1), job('completed', 100));
    const startedMs = performance.now();
    await client.waitForJob('se_1', { onProgress: () => delays.push(performance.now() - startedMs) });
    expect(delays).toHaveLength(2);
    expect((delays[1] ?? 0) - (delays[0] ?? 0)).toBeGreaterThanOrEqual(240);
  });
});
