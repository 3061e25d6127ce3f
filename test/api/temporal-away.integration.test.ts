import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DELIVERY_DEADLINE_MS } from '../../api/app.ts';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { startDevServer, type TestDevServer } from '../helpers/temporal.ts';
import { configWith, OPERATOR_TOKEN, publishedSignals, type RunningApi, startApi } from './running-api.ts';
import { signToken } from './sources/vendors/token.ts';

const SECRET = 'hush';
const config = configWith({ docs: { webhooks: { token: { secret: SECRET } } } });

let folder: string;
let temporal: TestDevServer;
let connection: Connection;
let api: RunningApi;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-away-'));
  temporal = await startDevServer({ dbFilename: join(folder, 'temporal.db') });
  // The client outlives the server that it was made for, as in production.
  connection = Connection.lazy({ address: temporal.address, ...RECEIVER_CONNECTION });
  const client = new Client({ connection });
  api = await startApi({ client, config, deliveryDeadlineMs: DELIVERY_DEADLINE_MS });
});

afterAll(async () => {
  await api.stop();
  await connection.close();
  await temporal.stop();
  await rm(folder, { recursive: true });
});

async function deliver(id: string): Promise<Response> {
  const body = JSON.stringify({ id });
  const headers = signToken({ secret: SECRET, body, path: '', at: new Date() });
  return await fetch(`${api.url}/webhooks/docs/token`, { method: 'POST', headers, body });
}

const untilTaken = (id: string) =>
  waitFor(async () => (await deliver(id)).status === 202, { describe: `accepted ${id}` });

const siteStatus = () => fetch(`${api.url}/sites/docs`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });

test('deliveries are answered 503 while Temporal is away, and accepted again once it is back', async () => {
  await untilTaken('before');
  await temporal.kill();

  for (const answer of await Promise.all(['away-1', 'away-2', 'away-3'].map(deliver))) {
    expect([answer.status, Number(answer.headers.get('retry-after'))]).toEqual([503, 5]);
  }
  expect((await siteStatus()).status).toBe(503);

  const port = Number(temporal.address.split(':')[1]);
  temporal = await startDevServer({ dbFilename: join(folder, 'temporal.db'), port });
  await untilTaken('again');
  const held = (await publishedSignals(temporal.client, 'docs')).map(({ newest }) => newest.id);
  expect([held[0], held.at(-1)]).toEqual(['before', 'again']);
  const answered = async () => {
    const answer = await siteStatus();
    return answer.ok && (await answer.text());
  };
  expect(JSON.parse(await waitFor(answered, { describe: 'reported the site' }))).toMatchObject({
    deliveries: expect.arrayContaining([
      expect.objectContaining({ outcome: 'verified', workflowId: 'export:docs' }),
      expect.objectContaining({ workflowId: null, why: expect.stringMatching(/^answered 503: /) }),
    ]),
  });
});
