import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import { signContentful } from '../helpers/sign-contentful.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { configWith, type RecordingApi, startRecordingApi } from './running-api.ts';
import { signStandard } from './sources/vendors/standard.ts';

const CONTENTFUL = 'c'.repeat(64);
const STANDARD = `whsec_${Buffer.from('s'.repeat(32)).toString('base64')}`;
const HEAD =
  'POST /webhooks/docs/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer hush\r\n';
const sized = (sizeBytes: number | string): string => `${HEAD}Content-Length: ${sizeBytes}\r\n\r\n`;
const request = (body: string): string => sized(Buffer.byteLength(body)) + body;

const webhooks = { contentful: { secret: CONTENTFUL }, standard: { secret: STANDARD }, token: { secret: 'hush' } };
const config = configWith({ docs: { webhooks } });

// Long timeouts, so that none ends a connection that is still sending.
const timeouts = { headersMs: 600_000, requestMs: 600_000 };
const api = await startRecordingApi(config, timeouts);

afterAll(() => api.stop());

function open(to = api): Socket {
  const { hostname, port } = new URL(to.url);
  return connect(Number(port), hostname).on('error', () => {});
}

const metrics = async (): Promise<string> => await (await fetch(`${api.url}/metrics`)).text();

const deliver = async (id: string): Promise<number> => {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer hush' };
  const body = JSON.stringify({ id });
  return (await fetch(`${api.url}/webhooks/docs/token`, { method: 'POST', headers, body })).status;
};

type Responses = readonly (readonly [status: number, body: string])[];

/** The responses on one connection until the server ends it, or the client after the expected number. */
async function responsesTo(
  text: string,
  { expected = Number.POSITIVE_INFINITY, to = api }: { expected?: number; to?: RecordingApi } = {},
): Promise<Responses> {
  const socket = open(to);
  socket.write(text);
  let received = '';
  for await (const chunk of socket) {
    received += String(chunk);
    if (received.split('HTTP/1.1 ').length > expected) socket.end();
  }
  return received
    .split('HTTP/1.1 ')
    .slice(1)
    .map((answer) => [Number.parseInt(answer, 10), answer.split('\r\n\r\n')[1] ?? ''] as const);
}

const statusesOf = (responses: Responses) => responses.map(([status]) => status);

const receipt = z.object({ deliveryId: z.string() });

/** The ids of the accepted deliveries. */
const acceptedIds = (responses: Responses) =>
  responses.flatMap(([status, body]) => (status === 202 ? [receipt.parse(JSON.parse(body)).deliveryId] : []));

const signaledIds = () => api.published().flatMap(({ deliveries }) => deliveries.map(({ id }) => id));

describe('a forged request', () => {
  const post = (path: string, headers: Record<string, string>) =>
    fetch(api.url + path, { method: 'POST', headers, body: '{}' });

  test.each(['', 'constructor', '__proto__', 'hasownproperty', 'set-cookie', ':', ' '])(
    'that lists the header name "%s" as signed is rejected',
    async (name) => {
      const path = '/webhooks/docs/contentful';
      const headers = signContentful({ secret: CONTENTFUL, body: '{}', path, at: new Date() });
      headers['x-contentful-signed-headers'] += `,${name}`;
      const answer = await post(path, { ...headers, 'set-cookie': 'a=b' });
      expect([answer.status, await answer.json()]).toEqual([401, { error: 'the delivery could not be verified' }]);
    },
  );

  test('is checked against at most 20 of its signatures', async () => {
    const path = '/webhooks/docs/standard';
    const headers = signStandard({ secret: STANDARD, body: '{}', path, at: new Date() });
    const behind = (count: number) =>
      post(path, { ...headers, 'webhook-signature': `${'v1,x '.repeat(count)}${headers['webhook-signature']}` });
    expect((await behind(19)).status).toBe(202);
    expect((await behind(20)).status).toBe(401);
  });
});

describe('a client that disconnects in the middle of a body', () => {
  test('is counted as rejected, and not logged as an error', async () => {
    const socket = open();
    // The response to the first request proves that the server has read the second one too.
    socket.write(`${request('{}')}${sized(100)}{"a":`);
    await once(socket, 'data');
    socket.destroy();
    const line = 'galley_webhook_rejects_total{site="docs",source="token",reason="status-400"} 1';
    await waitFor(async () => (await metrics()).includes(line), { describe: 'counted' });
    expect(api.log.filter((each) => each.includes('"level":50'))).toEqual([]);
  });
});

describe('a content length', () => {
  test.each(['-1', '1.5', '0x10', '1e3', '5, 6', 'many', '99999999999999999999999'])(
    'that is not a number of bytes is 400: %s',
    async (length) => {
      expect(await responsesTo(`${sized(length)}{}`)).toEqual([[400, '{"error":"this is not a valid HTTP request"}']]);
    },
  );

  test.each([
    ['given twice with two values', 'Content-Length: 2\r\nContent-Length: 3\r\n'],
    ['next to chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n'],
  ])('%s is 400, because the end of the request is unclear', async (_what, headers) => {
    expect(statusesOf(await responsesTo(`${HEAD}${headers}\r\n2\r\n{}\r\n0\r\n\r\n`))).toEqual([400]);
  });

  test('that is too short ends the body there, and the rest is rejected', async () => {
    const responses = await responsesTo(`${sized(2)}{}{"id":"behind"}\r\n\r\n`);
    expect(statusesOf(responses)).toEqual([202, 400]);
    expect(signaledIds().slice(-1)).toEqual(acceptedIds(responses));
  });

  test('over 1 MiB is 413 at once, and the connection ends without a second response', async () => {
    const timeouts = { headersMs: 2_000, requestMs: 2_000, checkMs: 50, keepAliveMs: 600_000 };
    const strict = await startRecordingApi(config, timeouts);
    const responses = await responsesTo(`${sized(2_000_000)}xxx`, { to: strict });
    await strict.stop();
    expect(responses).toEqual([[413, '{"error":"the body is larger than 1 MiB"}']]);
  });
});

describe('deliveries that are pipelined on one connection', () => {
  test('each get a response in order, also an invalid one', async () => {
    const responses = await responsesTo(['{"id":"first"}', 'no JSON', '{"id":"second"}'].map(request).join(''), {
      expected: 3,
    });
    expect(statusesOf(responses)).toEqual([202, 400, 202]);
    expect(signaledIds().slice(-2)).toEqual(acceptedIds(responses));
  });

  test('are all signaled, up to a hundred', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `pipelined-${index}`);
    const responses = await responsesTo(ids.map((id) => request(JSON.stringify({ id }))).join(''), {
      expected: ids.length,
    });
    expect(statusesOf(responses)).toEqual(ids.map(() => 202));
    expect(signaledIds().slice(-100).sort()).toEqual([...acceptedIds(responses)].sort());
  });
});

describe('a thousand idle connections', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const usedBytes = (): number => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };

  test('do not block deliveries, and leak no memory', async () => {
    expect(await deliver('before')).toBe(202);
    const beforeBytes = usedBytes();
    const sockets = Array.from({ length: 1_000 }, () => open());
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const [index, socket] of sockets.entries()) if (index % 2 === 0) socket.write(HEAD);
    expect(await deliver('meanwhile')).toBe(202);
    const meanwhileBytes = usedBytes();
    for (const socket of sockets.splice(0)) socket.destroy();
    const quarterBytes = beforeBytes + (meanwhileBytes - beforeBytes) / 4;
    await waitFor(() => usedBytes() < quarterBytes, { describe: 'freed' });
    expect(await deliver('after')).toBe(202);
  });
});
