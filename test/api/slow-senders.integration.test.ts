import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { configWith, publishedSignals, type RunningApi, startApi } from './running-api.ts';

const SECRET = 'hush';
const HEAD = `POST /webhooks/docs/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${SECRET}\r\n`;
const sized = (sizeBytes: number | string): string => `${HEAD}Content-Length: ${sizeBytes}\r\n\r\n`;
const request = (body: string): string => sized(Buffer.byteLength(body)) + body;

let temporal: TestTemporal;
let api: RunningApi;

beforeAll(async () => {
  temporal = await connectTemporal();
  const config = configWith({ docs: { webhooks: { token: { secret: SECRET } } } });
  const timeouts = { headersMs: 800, requestMs: 1_500, keepAliveMs: 1_000, checkMs: 100 };
  api = await startApi({ client: temporal.client, config }, timeouts);
});

afterAll(async () => {
  await api.stop();
  await temporal.stop();
});

function open(): Socket {
  const { hostname, port } = new URL(api.url);
  return connect(Number(port), hostname).on('error', () => {});
}

/** The answers on one connection, as status and body, until the server ends it. */
async function answersTo(parts: readonly (string | Buffer)[], everyMs = 0): Promise<[number, string][]> {
  const socket = open();
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  for (const part of parts) {
    if (!socket.writable) break;
    socket.write(part);
    if (everyMs > 0) await sleep(everyMs);
  }
  await ended;
  return text
    .split('HTTP/1.1 ')
    .slice(1)
    .map((answer) => [Number.parseInt(answer, 10), answer.split('\r\n\r\n')[1] ?? '']);
}

/** The deliveries that Temporal holds; some may share a signal. */
async function held(): Promise<string[]> {
  const signals = await publishedSignals(temporal.client, 'docs');
  return signals.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
}

const receipt = z.object({ deliveryId: z.string() });

/** The ids that an answer of 202 tells. */
function acknowledged(answers: readonly [number, string][]): string[] {
  return answers.flatMap(([status, body]) => (status === 202 ? [receipt.parse(JSON.parse(body)).deliveryId] : []));
}

const good = async (id: string): Promise<number> => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${SECRET}` };
  return (await fetch(`${api.url}/webhooks/docs/token`, { method: 'POST', headers, body: JSON.stringify({ id }) }))
    .status;
};

describe('a sender that takes too long', () => {
  test.each([
    ['its headers', [HEAD, ...Array.from({ length: 40 }, (_, index) => `X-${index}: y\r\n`)]],
    ['its body', [sized(1_000), ...Array.from({ length: 40 }, () => 'x')]],
    [
      'a body without a length',
      [`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, ...Array.from({ length: 40 }, () => '1\r\nx\r\n')],
    ],
    ['less than it said', [sized(1_000), '{}']],
  ])('for %s is told 408, and the others are served meanwhile', async (_what, parts) => {
    const slow = answersTo(parts, 100);
    expect(await good('meanwhile')).toBe(202);
    expect(await slow).toEqual([[408, '{"error":"the request took too long"}']]);
    expect(await good('afterwards')).toBe(202);
  });

  test('counts among what is turned away, and is no fault of the server in the log', async () => {
    await answersTo([sized(1_000), '{"a":']);
    const text = await (await fetch(`${api.url}/metrics`)).text();
    expect(text).toMatch(/galley_webhook_rejects_total\{site="docs",source="token",reason="status-400"\} [1-9]/);
    expect(api.log.filter((line) => line.includes('"level":50'))).toEqual([]);
  });

  test('after it was told that its body is too large is cut off without another word', async () => {
    const answers = await answersTo([sized(2_000_000), ...Array.from({ length: 20 }, () => 'x')], 100);
    expect(answers).toEqual([[413, '{"error":"the body is larger than 1 MiB"}']]);
  });
});

describe('a length', () => {
  test.each(['-1', '1.5', '0x10', '1e3', '5, 6', 'many', '99999999999999999999999'])(
    'that is none is 400: %s',
    async (length) => {
      expect(await answersTo([`${sized(length)}{}`])).toEqual([[400, '{"error":"this is not a valid HTTP request"}']]);
    },
  );

  test.each([
    ['twice, and not the same', 'Content-Length: 2\r\nContent-Length: 3\r\n'],
    ['beside chunks, of which only one can hold', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n'],
  ])('%s is 400: nobody can say where the request ends', async (_what, headers) => {
    expect(await answersTo([`${HEAD}${headers}\r\n2\r\n{}\r\n0\r\n\r\n`])).toMatchObject([[400, expect.any(String)]]);
  });

  test('that is too small ends the body there, and what follows is no request', async () => {
    const answers = await answersTo([`${sized(2)}{}{"id":"behind"}\r\n\r\n`]);
    expect(answers.map(([status]) => status)).toEqual([202, 400]);
    expect((await held()).slice(-1)).toEqual(acknowledged(answers));
  });
});

describe('deliveries sent one behind the other on one connection', () => {
  test('are each answered, in their order', async () => {
    const bodies = ['{"id":"first"}', 'no JSON', '{"id":"second"}'];
    const answers = await answersTo([bodies.map(request).join('')]);
    expect(answers.map(([status]) => status)).toEqual([202, 400, 202]);
    expect((await held()).slice(-2)).toEqual(acknowledged(answers));
  });

  test('are answered also where bytes follow that are no request', async () => {
    const answers = await answersTo([`${request('{"id":"before"}')}hello\r\n\r\n`]);
    expect(answers.map(([status]) => status)).toEqual([202, 400]);
    expect((await held()).slice(-1)).toEqual(acknowledged(answers));
  });

  test('by the hundred are all held by Temporal', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `pipelined-${index}`);
    const answers = await answersTo([ids.map((id) => request(JSON.stringify({ id }))).join('')]);
    expect(answers.map(([status]) => status)).toEqual(ids.map(() => 202));
    expect((await held()).slice(-100).sort()).toEqual(acknowledged(answers).sort());
  });
});
