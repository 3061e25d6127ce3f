import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from '../helpers/fast-check.ts';
import { configWith, startRecordingApi } from './running-api.ts';
import { signBody } from './sources/vendors/hmac.ts';

const SECRET = 'hush';
const PATH = '/webhooks/docs/hmac';

const api = await startRecordingApi(
  configWith({ docs: { webhooks: { hmac: { secret: SECRET, header: 'X-Signature' } } } }),
);

afterAll(() => api.stop());

const postSigned = (body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(api.url + PATH, { method: 'POST', headers: { ...signBody(SECRET, body), ...headers }, body });

const newest = () => api.published().at(-1)?.newest;

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
    const response = await postSigned('{}', { 'content-type': type });
    const error = 'expected the content type application/json';
    expect([response.status, await response.json()]).toEqual([415, { error }]);
  });

  test.each([
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'APPLICATION/JSON',
    'application/vnd.contentful.management.v1+json',
    'application/cloudevents+json; profile=x',
  ])('of the content type %s is read', async (type) => {
    expect((await postSigned('{}', { 'content-type': type })).status).toBe(202);
  });

  test('of exactly 1 MiB is accepted, one byte more is 413', async () => {
    const body = (sizeBytes: number) => `"${'x'.repeat(sizeBytes - 2)}"`;
    expect((await postSigned(body(1024 * 1024))).status).toBe(202);
    const response = await postSigned(body(1024 * 1024 + 1));
    expect([response.status, await response.json()]).toEqual([413, { error: 'the body is larger than 1 MiB' }]);
  });

  test('that grows past 1 MiB without a length is 413 before it ends', async () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    for (let count = 0; count < 20; count += 1) socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`);
    const [response] = await once(socket, 'data');
    socket.destroy();
    expect(String(response)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['half an object', '{"a":'],
    ['words', 'hello'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22])],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le')],
    ['half a MiB of open brackets', '['.repeat(1024 * 512)],
  ])('of %s is 400 although it is signed', async (_, body) => {
    const response = await postSigned(body);
    expect([response.status, await response.json()]).toEqual([400, { error: 'expected JSON in UTF-8' }]);
  });

  test.each([
    ['lists', '['.repeat(500_000) + ']'.repeat(500_000)],
    ['objects', `${'{"data":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ])('of deeply nested %s is accepted', async (_, body) => {
    expect((await postSigned(body)).status).toBe(202);
  });

  test('that contains a key twice uses the last value', async () => {
    expect((await postSigned('{"id":"first","title":"a","id":"second","title":"b"}')).status).toBe(202);
    expect(newest()).toMatchObject({ id: 'second', title: 'b' });
  });

  test('with keys such as __proto__ neither pollutes prototypes nor sets inherited fields', async () => {
    const body = '{"__proto__":{"title":"inherited","polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    expect((await postSigned(body)).status).toBe(202);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(newest()?.title).not.toBe('inherited');
  });

  test('of any JSON is accepted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 4 }), async (body) => {
        expect((await postSigned(body)).status).toBe(202);
      }),
      { numRuns: 30 },
    );
  });

  test.each(['gzip', 'deflate', 'br', 'GZIP', 'identity, gzip'])('in the encoding %s is 415', async (encoding) => {
    const response = await postSigned(gzipSync('{}'), { 'content-encoding': encoding });
    expect([response.status, await response.json()]).toEqual([
      415,
      { error: 'expected a body without content encoding' },
    ]);
  });
});
