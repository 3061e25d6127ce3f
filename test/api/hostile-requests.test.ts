import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';
import { configWith, type RunningApi, startApi } from './running-api.ts';
import { signContentful, signStandard } from './signing.ts';

const CONTENTFUL = 'c'.repeat(64);
const STANDARD = `whsec_${Buffer.from('s'.repeat(32)).toString('base64')}`;

let connection: Connection;
let api: RunningApi;

beforeAll(async () => {
  // Nobody listens there: what passes the verification is answered 503, and what doesn't never gets so far.
  connection = Connection.lazy({ address: '127.0.0.1:1', ...RECEIVER_CONNECTION });
  const webhooks = { contentful: { secret: CONTENTFUL }, standard: { secret: STANDARD }, token: { secret: 'token' } };
  api = await startApi({ client: new Client({ connection }), config: configWith({ docs: { webhooks } }) });
});

afterAll(async () => {
  await api.stop();
  await connection.close();
});

const post = (path: string, headers: Record<string, string>) =>
  fetch(api.url + path, { method: 'POST', headers, body: '{}' });

describe('a request from nobody we know', () => {
  test.each(['', 'constructor', '__proto__', 'hasownproperty', 'set-cookie', ':', ' '])(
    'that lists the header name "%s" as signed is refused like any other',
    async (name) => {
      const path = '/webhooks/docs/contentful';
      const headers = signContentful({ secret: CONTENTFUL, body: '{}', path, at: new Date() });
      headers['x-contentful-signed-headers'] += `,${name}`;
      const answer = await post(path, { ...headers, 'set-cookie': 'a=b' });
      expect([answer.status, await answer.json()]).toEqual([401, { error: 'the delivery could not be verified' }]);
    },
  );

  test('can make us compare only so many signatures', async () => {
    const path = '/webhooks/docs/standard';
    const headers = signStandard({ secret: STANDARD, body: '{}', path, at: new Date() });
    const behind = (count: number) =>
      post(path, { ...headers, 'webhook-signature': `${'v1,x '.repeat(count)}${headers['webhook-signature']}` });
    expect((await behind(19)).status).toBe(503);
    expect((await behind(20)).status).toBe(401);
  });

  test('who leaves in the middle of a body is no fault of the server in the log', async () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const head = 'POST /webhooks/docs/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    socket.write(`${head}Content-Length: 100\r\n\r\n{"a":`);
    await sleep(100);
    socket.destroy();
    let text = '';
    for (let tries = 0; tries < 100 && !text.includes('status-400'); tries += 1) {
      await sleep(50);
      text = await (await fetch(`${api.url}/metrics`)).text();
    }
    expect(text).toContain('galley_webhook_rejects_total{site="docs",source="token",reason="status-400"} 1');
    expect(api.log.filter((line) => line.includes('"level":50'))).toEqual([]);
  });
});

test('the metrics tell of the process too', async () => {
  const text = await (await fetch(`${api.url}/metrics`)).text();
  for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds', 'nodejs_heap_size_used_bytes']) {
    expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
  }
});
