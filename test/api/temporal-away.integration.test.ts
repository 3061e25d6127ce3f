import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowClientInterceptor } from '@temporalio/client';
import { DELIVERY_DEADLINE_MS } from '../../api/app.ts';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { startDevServer, type TestDevServer } from '../helpers/temporal.ts';
import { configWith, OPERATOR_TOKEN, publishedSignals, type RunningApi, startApi } from './running-api.ts';
import { signToken } from './sources/vendors/token.ts';

const SECRET = 'hush';
const configOf = (site: string) => configWith({ [site]: { webhooks: { token: { secret: SECRET } } } });
const config = configOf('docs');

let folder: string;
let temporal: TestDevServer;
let connection: Connection;
let api: RunningApi;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-away-'));
  temporal = await startDevServer({ dbFilename: join(folder, 'temporal.db') });
  // The client survives a restart of the server, as in production.
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

async function deliver(id: string, url = `${api.url}/webhooks/docs/token`): Promise<Response> {
  const body = JSON.stringify({ id });
  const headers = signToken({ secret: SECRET, body, path: '', at: new Date() });
  return await fetch(url, { method: 'POST', headers, body });
}

const untilAccepted = (id: string) =>
  waitFor(async () => (await deliver(id)).status === 202, { describe: `accepted ${id}` });

const siteStatus = () => fetch(`${api.url}/sites/docs`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });

test('deliveries get 503 while Temporal is down, and are accepted again once it is up', async () => {
  await untilAccepted('before');
  await temporal.kill();

  for (const response of await Promise.all(['away-1', 'away-2', 'away-3'].map((id) => deliver(id)))) {
    expect([response.status, Number(response.headers.get('retry-after'))]).toEqual([503, 5]);
  }
  expect((await siteStatus()).status).toBe(503);

  const port = Number(temporal.address.split(':')[1]);
  temporal = await startDevServer({ dbFilename: join(folder, 'temporal.db'), port });
  await untilAccepted('again');
  const signaled = (await publishedSignals(temporal.client, 'docs')).map(({ newest }) => newest.id);
  expect([signaled[0], signaled.at(-1)]).toEqual(['before', 'again']);
  const answered = async () => {
    const response = await siteStatus();
    return response.ok && (await response.text());
  };
  expect(JSON.parse(await waitFor(answered, { describe: 'reported the site' }))).toMatchObject({
    deliveries: expect.arrayContaining([
      expect.objectContaining({ outcome: 'verified', workflowId: 'export:docs' }),
      expect.objectContaining({ workflowId: null, why: expect.stringMatching(/^answered 503: /) }),
    ]),
  });
});

test('an acknowledgment that never arrives costs only its own delivery, which is stored, a 503', async () => {
  let isStored = false;
  const lost: WorkflowClientInterceptor = {
    async signalWithStart(input, next) {
      const run = await next(input);
      if (!JSON.stringify(input.signalArgs).includes('"lost"')) return run;
      isStored = true;
      return await new Promise<never>(() => {});
    },
  };
  const client = new Client({ connection, interceptors: { workflow: [lost] } });
  // Long enough for a busy machine: the next delivery has three quarters of it.
  const slow = await startApi({ client, config: configOf('lost'), deliveryDeadlineMs: 8_000 });
  try {
    const url = `${slow.url}/webhooks/lost/token`;
    const first = deliver('lost', url);
    await waitFor(async () => isStored, { describe: 'stored the first delivery' });
    expect((await deliver('next', url)).status).toBe(202);
    expect((await first).status).toBe(503);
    const signals = await publishedSignals(temporal.client, 'lost');
    expect(signals.map(({ newest }) => newest.id)).toEqual(['lost', 'next']);
  } finally {
    await slow.stop();
  }
});
