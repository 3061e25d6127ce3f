import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';
import { allowedMs, REFUSAL_MS } from '../helpers/allowed-ms.ts';
import { startDevServer, type TestDevServer } from '../helpers/temporal.ts';
import { configWith, OPERATOR_TOKEN, publishedSignals, type RunningApi, startApi } from './running-api.ts';
import { signToken } from './signing.ts';

const SECRET = 'hush';
const config = configWith({ docs: { webhooks: { token: { secret: SECRET } } } });

let folder: string;
let temporal: TestDevServer;
let api: RunningApi;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-away-'));
  temporal = await startDevServer({ dbFilename: join(folder, 'temporal.db') });
});

afterAll(async () => {
  await temporal.stop();
  await rm(folder, { recursive: true });
});

async function deliver(id: string): Promise<{ status: number; retryAfter: string | null; tookMs: number }> {
  const body = JSON.stringify({ id });
  const startMs = performance.now();
  const headers = signToken({ secret: SECRET, body, path: '', at: new Date() });
  const answer = await fetch(`${api.url}/webhooks/docs/token`, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return {
    status: answer.status,
    retryAfter: answer.headers.get('retry-after'),
    tookMs: performance.now() - startMs,
  };
}

test('While Temporal is away deliveries are turned back within 2 s, and accepted again once it is there', async () => {
  // The client outlives the server that it was made for, as in production.
  const connection = Connection.lazy({ address: temporal.address, ...RECEIVER_CONNECTION });
  api = await startApi({ client: new Client({ connection }), config });
  try {
    expect(await deliver('before')).toMatchObject({ status: 202 });
    await temporal.kill();

    const turnedBack = [await deliver('away-1'), ...(await Promise.all(['away-2', 'away-3'].map(deliver)))];
    for (const { status, retryAfter } of turnedBack) {
      expect(status).toBe(503);
      expect(Number(retryAfter)).toBeGreaterThan(0);
    }
    // The fastest tells of the receiver, the others of the machine too.
    expect(Math.min(...turnedBack.map(({ tookMs }) => tookMs))).toBeLessThan(allowedMs(REFUSAL_MS));
    const status = await fetch(`${api.url}/sites/docs`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });
    expect(status.status).toBe(503);

    const port = Number(temporal.address.split(':')[1]);
    temporal = await startDevServer({ dbFilename: join(folder, 'temporal.db'), port });
    let answer = await deliver('again');
    for (let attempt = 0; attempt < 40 && answer.status !== 202; attempt += 1) {
      await sleep(500);
      answer = await deliver('again');
    }
    expect(answer.status).toBe(202);
    const held = (await publishedSignals(temporal.client, 'docs')).map(({ newest }) => newest.id);
    expect([held[0], held.at(-1)]).toEqual(['before', 'again']);
    const listed = await fetch(`${api.url}/sites/docs`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });
    const turnedBackThen = { outcome: 'verified', workflowId: null, why: expect.stringMatching(/^answered 503: /) };
    expect(await listed.json()).toMatchObject({
      deliveries: expect.arrayContaining([
        expect.objectContaining({ outcome: 'verified', workflowId: 'export:docs' }),
        expect.objectContaining(turnedBackThen),
      ]),
    });
  } finally {
    await api.stop();
    await connection.close();
  }
});
