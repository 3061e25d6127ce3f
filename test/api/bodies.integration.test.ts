import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { configWith, publishedSignals, type RunningApi, startApi } from './running-api.ts';
import { signBody } from './signing.ts';

const SECRET = 'hush';

let temporal: TestTemporal;
let api: RunningApi;

beforeAll(async () => {
  temporal = await connectTemporal();
  const config = configWith({ bodies: { webhooks: { hmac: { secret: SECRET, header: 'X-Signature' } } } });
  api = await startApi({ client: temporal.client, config });
});

afterAll(async () => {
  await api.stop();
  await temporal.stop();
});

function post(path: string, headers: Record<string, string>, body: string | Buffer): Promise<Response> {
  return fetch(api.url + path, { method: 'POST', headers, body });
}

const signed = (body: string | Buffer, contentType?: string) => signBody(SECRET, body, contentType);

const postSigned = (body: string | Buffer, contentType?: string) =>
  post('/webhooks/bodies/hmac', signed(body, contentType), body);

describe('a body', () => {
  test.each([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/json; charset=utf-16',
    'application/xml',
    '',
  ])('of the content type "%s" is 415', async (type) => {
    const answer = await postSigned('{}', type);
    expect([answer.status, await answer.json()]).toEqual([
      415,
      { error: 'expected the content type application/json' },
    ]);
  });

  test.each([
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'APPLICATION/JSON',
    'application/vnd.contentful.management.v1+json',
    'application/cloudevents+json; profile=x',
  ])('of the content type %s is read', async (type) => {
    expect((await postSigned(JSON.stringify({ type }), type)).status).toBe(202);
  });

  test('of exactly 1 MiB is accepted, one byte more is 413', async () => {
    const body = (sizeBytes: number) => `"${'x'.repeat(sizeBytes - 2)}"`;
    expect((await postSigned(body(1024 * 1024))).status).toBe(202);
    const answer = await postSigned(body(1024 * 1024 + 1));
    expect([answer.status, await answer.json()]).toEqual([413, { error: 'the body is larger than 1 MiB' }]);
  });

  test('that grows past 1 MiB without saying so at first is 413', async () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    const head = 'POST /webhooks/bodies/hmac HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    for (let count = 0; count < 20; count += 1) socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`);
    const [answer] = await once(socket, 'data');
    socket.destroy();
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['half an object', '{"a":'],
    ['words', 'hello'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22])],
    ['a byte order that is not UTF-8', Buffer.from('\ufeff{}', 'utf16le')],
  ])('of %s is 400 although it is signed', async (_, body) => {
    const answer = await postSigned(body);
    expect([answer.status, await answer.json()]).toEqual([400, { error: 'expected JSON in UTF-8' }]);
  });

  test('nested a hundred thousand deep is accepted', async () => {
    expect((await postSigned('['.repeat(100_000) + ']'.repeat(100_000))).status).toBe(202);
    expect((await postSigned(`${'{"data":'.repeat(100_000)}1${'}'.repeat(100_000)}`)).status).toBe(202);
    const halfMiB = 512 * 1024;
    expect((await postSigned('['.repeat(halfMiB) + ']'.repeat(halfMiB))).status).toBe(202);
    expect((await postSigned('['.repeat(2 * halfMiB))).status).toBe(400);
  });

  test('that names a key twice is read by the last one, as everybody reads it', async () => {
    expect((await postSigned('{"id":"first","title":"a","id":"second","title":"b"}')).status).toBe(202);
    const signals = await publishedSignals(temporal.client, 'bodies');
    expect(signals.at(-1)?.newest).toMatchObject({ id: 'second', title: 'b' });
  });

  test('with keys that every object inherits neither pollutes nor is read by them', async () => {
    const body =
      '{"__proto__":{"title":"from the prototype","polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    expect((await postSigned(body)).status).toBe(202);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    const signals = await publishedSignals(temporal.client, 'bodies');
    expect(signals.at(-1)?.newest.title).not.toContain('prototype');
  });

  test('of any JSON at all is accepted when it is signed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 4 }), async (body) => {
        expect((await postSigned(body)).status).toBe(202);
      }),
      { numRuns: 30 },
    );
  });

  test('that is never sent leaves the others served', async () => {
    const { hostname, port } = new URL(api.url);
    const slow = connect(Number(port), hostname);
    slow.write(
      `POST /webhooks/bodies/hmac HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    );
    expect((await postSigned('{"served":true}')).status).toBe(202);
    slow.destroy();
  });

  test('that is compressed is 415 and never inflated, however much would come out of it', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(1024 * 1024);
    const before = process.memoryUsage().arrayBuffers;
    for (const encoding of ['gzip', 'deflate', 'br', 'GZIP', 'identity, gzip']) {
      const headers = {
        'content-type': 'application/json',
        'content-encoding': encoding,
        ...signed(bomb),
      };
      const answer = await fetch(`${api.url}/webhooks/bodies/hmac`, { method: 'POST', headers, body: bomb });
      expect([answer.status, await answer.json()]).toEqual([
        415,
        { error: 'expected a body without content encoding' },
      ]);
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
  });
});
