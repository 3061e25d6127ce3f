import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { keepRunLog } from '../../../../platform/store/agent-runs.ts';
import { type Customer, startTestPlatform } from '../../../helpers/platform-api.ts';
import { createApiClient } from '../api-client.ts';
import { type AgentFixture, jobPath, useAgentApi } from './agent-fixture.ts';

describe("an agent job's log", () => {
  let agents: AgentFixture;
  let customer: Customer;

  useAgentApi((fixture) => {
    ({ agents, customer } = fixture);
  });

  /** Completes a run with this log. */
  async function completeWithLog(jobId: string, run: number, log: Uint8Array | string): Promise<void> {
    const logKey = `agent-logs/${jobId}/${run}.log`;
    await agents.platform.objects.put(logKey, Buffer.from(log), { contentType: 'text/plain' });
    await keepRunLog(agents.platform.db, { jobId, run, logKey, logSizeBytes: log.length });
    await agents.complete(jobId, run);
  }

  const logOf = (id: string) => agents.api.get(`${jobPath(customer, id)}/log`, { key: customer.key });

  it('is empty while nothing is stored', async () => {
    const { id } = await agents.created(customer);
    const response = await logOf(id);
    expect([response.status, response.text]).toEqual([200, '']);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    await keepRunLog(agents.platform.db, { jobId: id, run: 1, logKey: 'agent-logs/not-written-yet', logSizeBytes: 0 });
    expect((await logOf(id)).text).toBe('');
  });

  it('contains the runs in order, each below a heading line, also once archived', async () => {
    const { id } = await agents.created(customer);
    await completeWithLog(id, 1, 'reading\nwriting שלום');
    await agents.act(customer, id, 'message', { prompt: 'And this' });
    await agents.fail(id, 2);
    await agents.act(customer, id, 'message', { prompt: 'Again' });
    await completeWithLog(id, 3, 'done\n');
    await agents.act(customer, id, 'archive');
    const time = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z';
    expect((await logOf(id)).text).toMatch(
      new RegExp(`^=== run 1, begun ${time} ===\nreading\nwriting שלום\n=== run 3, begun ${time} ===\ndone\n$`),
    );
  });

  it('is sent unchanged, also if it is large or not text', async () => {
    const { id } = await agents.created(customer);
    const log = Buffer.concat([Buffer.from([0, 0xff, 0xfe, 0x1b]), Buffer.alloc(5_000_000, 'x')]);
    await completeWithLog(id, 1, log);
    const response = await fetch(`${agents.platform.baseUrl}${jobPath(customer, id)}/log`, {
      headers: { authorization: `Bearer ${customer.key}` },
    });
    const sent = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(sent.subarray(sent.indexOf('\n') + 1).equals(log)).toBe(true);
  });

  it('survives a client that disconnects in the middle, and supports HEAD', async () => {
    const { id } = await agents.created(customer);
    await completeWithLog(id, 1, Buffer.alloc(20_000_000, 'x'));
    const headers = { authorization: `Bearer ${customer.key}` };
    const url = `${agents.platform.baseUrl}${jobPath(customer, id)}/log`;
    await new Promise<void>((resolve, reject) => {
      const clientRequest = request(url, { headers }, (response) => {
        response.once('data', () => {
          response.destroy();
          resolve();
        });
      });
      clientRequest.once('error', reject).end();
    });
    const head = await fetch(url, { method: 'HEAD', headers });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect((await logOf(id)).text.length).toBeGreaterThan(20_000_000);
  });

  it('closes its stream from the object store after GET and HEAD', async () => {
    const { id } = await agents.created(customer);
    await completeWithLog(id, 1, 'text');
    const opened: Readable[] = [];
    const objects = {
      ...agents.platform.objects,
      get: async (key: string) => {
        const log = await agents.platform.objects.get(key);
        opened.push(log);
        return log;
      },
    };
    const watched = await startTestPlatform(agents.database, { db: agents.platform.db, objects });
    const headers = { authorization: `Bearer ${customer.key}` };
    const url = `${watched.baseUrl}${jobPath(customer, id)}/log`;
    for (const method of ['HEAD', 'GET']) await (await fetch(url, { method, headers })).text();
    await watched.stop();
    expect(opened.map((log) => log.destroyed)).toEqual([true, true]);
  });

  it('aborts the response if the object store fails midway, and logs the reason', async () => {
    const { id } = await agents.created(customer);
    await completeWithLog(id, 1, 'text');
    const lines: string[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    const get = async () =>
      Readable.from(
        (async function* () {
          yield Buffer.from('the first half');
          throw new Error('the store went away');
        })(),
      );
    const objects = { ...agents.platform.objects, get };
    const failing = await startTestPlatform(agents.database, { db: agents.platform.db, objects, logger });
    const headers = { authorization: `Bearer ${customer.key}` };
    const response = await fetch(`${failing.baseUrl}${jobPath(customer, id)}/log`, { headers })
      .then((response) => response.text())
      .catch(() => 'broken');
    await failing.stop();
    expect(response).toBe('broken');
    expect(lines.filter((line) => line.includes('the store went away'))).toHaveLength(1);
  });

  it('is a 500 as JSON if the object store is down', async () => {
    const { id } = await agents.created(customer);
    await completeWithLog(id, 1, 'text');
    const objects = { ...agents.platform.objects, get: () => Promise.reject(new Error('the store is down')) };
    const failing = await startTestPlatform(agents.database, { db: agents.platform.db, objects });
    const client = createApiClient(failing.baseUrl, agents.check);
    const response = await client.get(`${jobPath(customer, id)}/log`, { key: customer.key });
    await failing.stop();
    expect([response.status, response.text.includes('down')]).toEqual([500, false]);
  });
});
