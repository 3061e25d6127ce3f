import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { waitFor } from '../helpers/system/wait-for.ts';
import { configWith, startRecordingApi } from './running-api.ts';
import { signGithub } from './sources/vendors/github.ts';

const MIB = 1024 * 1024;
const SECRET = 'hush';
const PATH = '/webhooks/docs/github';
const github = { secret: SECRET, only: { path: 'docs/**' } };
const api = await startRecordingApi(configWith({ docs: { webhooks: { github } } }));
const sockets: Socket[] = [];

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await api.stop();
});

const headersOf = (body: string, event?: string) =>
  signGithub({ secret: SECRET, body, path: PATH, at: new Date() }, event);

async function push(body: string, change: Record<string, string> = {}): Promise<[status: number, body: unknown]> {
  const headers = { ...(await headersOf(body)), ...change };
  const response = await fetch(api.url + PATH, { method: 'POST', headers, body });
  return [response.status, await response.json()];
}

const files = (count: number, folder: string) =>
  Array.from({ length: count }, (_, file) => `${folder}/page-${file}.md`);
const commitOf = (index: number, added: string[]) => ({
  id: String(index).padStart(40, '0'),
  message: `change ${index}`,
  url: `https://github.com/acme/docs/commit/${index}`,
  ...{ added, removed: [], modified: [] },
});

/** A push, padded with a field that nobody reads. */
function pushOf({ commits = [commitOf(1, files(3, 'docs'))], sizeBytes = 0 } = {}): string {
  const body = (padding: string) =>
    JSON.stringify({
      ...{ ref: 'refs/heads/main', after: 'abc', padding, pusher: { name: 'ada' } },
      ...{ commits, head_commit: { ...commits.at(-1), timestamp: '2026-11-21T08:00:00Z' } },
    });
  return body('x'.repeat(Math.max(0, sizeBytes - body('').length)));
}

test('a push of 2,048 commits with 20 files each is accepted', async () => {
  const commits = Array.from({ length: 2_048 }, (_, index) => commitOf(index, files(20, `src/part-${index}/folder`)));
  const body = pushOf({ commits });
  expect(body.length).toBeGreaterThan(1.2 * MIB);
  expect(await push(body)).toMatchObject([202, { accepted: ['export:docs'] }]);
  expect(api.published().at(-1)?.newest).toEqual({
    ...{ source: 'github', topic: 'push', action: 'publish', id: 'abc', title: 'change 2047', author: 'ada' },
    ...{ url: 'https://github.com/acme/docs/commit/2047', at: '2026-11-21T08:00:00.000Z' },
  });
});

test('a large push is read as a small one', async () => {
  for (const commits of [[commitOf(1, files(3, 'docs'))], [commitOf(1, files(3, 'src'))]]) {
    const responses = [];
    for (const sizeBytes of [0, 2 * MIB]) responses.push(await push(pushOf({ commits, sizeBytes })));
    const [small, large] = responses.map(([status, body]) => ({ status, ...Object(body), deliveryId: undefined }));
    expect(large).toEqual(small);
  }
});

test('a body of exactly 25 MiB is accepted, one byte more is 413', async () => {
  expect(await push(pushOf({ sizeBytes: 25 * MIB }))).toMatchObject([202, { accepted: ['export:docs'] }]);
  expect(await push(pushOf({ sizeBytes: 25 * MIB + 1 }))).toEqual([413, { error: 'the body is larger than 25 MiB' }]);
});

test('a large body is verified to its last byte before it is read', async () => {
  const body = pushOf({ sizeBytes: 2 * MIB });
  const headers = await headersOf(body);
  for (const altered of [body.replace('main', 'mine'), `${body} `, `${body.slice(0, -1)} `, `!${body.slice(1)}`]) {
    expect((await push(altered, headers))[0]).toBe(401);
  }
  expect(await push(`${body}}`)).toEqual([400, { error: 'expected JSON in UTF-8' }]);
});

async function openDelivery(headers: Record<string, string>, lengthHeader: string, body = ''): Promise<Socket> {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  sockets.push(socket);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${PATH} HTTP/1.1\r\nHost: x\r\n${lines.join('')}${lengthHeader}\r\n\r\n${body}`);
  return socket;
}

const firstLine = async (socket: Socket): Promise<string> =>
  String((await once(socket, 'data'))[0]).split('\r\n')[0] ?? '';

test('a large body without a length is accepted, and 413 before it ends if it grows past 25 MiB', async () => {
  const body = pushOf({ sizeBytes: 3 * MIB });
  const socket = await openDelivery(await headersOf(body), 'Transfer-Encoding: chunked');
  socket.write(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  expect(await firstLine(socket)).toBe('HTTP/1.1 202 Accepted');
  const endless = await openDelivery(await headersOf(body), 'Transfer-Encoding: chunked');
  for (let count = 0; count < 27; count += 1) endless.write(`100000\r\n${'x'.repeat(MIB)}\r\n`);
  expect(await firstLine(endless)).toBe('HTTP/1.1 413 Payload Too Large');
});

test('a large body without a signature is 401 before it arrives', async () => {
  const { 'x-hub-signature-256': _signature, ...headers } = await headersOf('{}');
  expect(await firstLine(await openDelivery(headers, `Content-Length: ${2 * MIB}`))).toBe('HTTP/1.1 401 Unauthorized');
});

test('four large bodies are read at a time, and others are 503 with Retry-After until one has ended', async () => {
  const large = pushOf({ sizeBytes: 2 * MIB });
  const headers = await headersOf(large);
  const send = () => fetch(api.url + PATH, { method: 'POST', headers, body: large });
  const waiting = [];
  for (let count = 0; count < 4; count += 1) {
    const socket = await openDelivery(headers, `Content-Length: ${large.length}\r\nExpect: 100-continue`);
    expect(await firstLine(socket)).toBe('HTTP/1.1 100 Continue');
    waiting.push(socket);
  }
  const response = await send();
  expect(response.headers.get('retry-after')).toBe('5');
  expect(await response.json()).toEqual({ error: '4 large deliveries are being read: send this one again' });
  expect(await push(pushOf())).toMatchObject([202, {}]);
  const [gone, ended] = waiting;
  gone?.destroy();
  ended?.write(large);
  expect(ended && (await firstLine(ended))).toBe('HTTP/1.1 202 Accepted');
  await waitFor(async () => (await send()).status === 202, { describe: 'a large body is accepted' });
});
