import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { waitFor } from '../helpers/system/wait-for.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { configWith, publishedSignals, type RunningApi, startApi } from './running-api.ts';

const SECRET = 'hush';

/**
 * Node raises the soft limit of open files to the hard one at its start, here as in the clients' process. Where that is
 * below ten thousand and a few for everything else, there are as many connections as it allows.
 */
const OPEN_FILES =
  Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim()) || Number.POSITIVE_INFINITY;
const CONNECTIONS = Math.min(10_000, OPEN_FILES - 500);

/** Longer than any machine needs to open them all: the receiver ends a connection that sends no request (see serve.ts). */
const PATIENCE_MS = 3_600_000;

/**
 * The clients, in a process of their own: half of each open file is the receiver's. Every other one has begun a request;
 * the rest says nothing at all. They are there once it says so, and gone with its standard input.
 */
const CLIENTS = `
  import { once } from 'node:events';
  import { connect } from 'node:net';
  const [host, port, count] = process.argv.slice(1);
  for (let opened = 0; opened < Number(count); opened += 500) {
    const more = Array.from({ length: Math.min(500, Number(count) - opened) }, () => connect(Number(port), host));
    await Promise.all(more.map((socket) => once(socket, 'connect')));
    for (const [index, socket] of more.entries()) {
      socket.on('error', () => {});
      if (index % 2 === 0) socket.write('POST /webhooks/docs/token HTTP/1.1\\r\\nHost: x\\r\\n');
    }
  }
  process.stdin.resume().on('end', () => process.exit());
  console.log('open');
`;

let temporal: TestTemporal;
let api: RunningApi;
let clients: ChildProcess | undefined;

beforeAll(async () => {
  temporal = await connectTemporal();
  const config = configWith({ docs: { webhooks: { token: { secret: SECRET } } } });
  api = await startApi({ client: temporal.client, config }, { headersMs: PATIENCE_MS, requestMs: PATIENCE_MS });
});

afterAll(async () => {
  clients?.kill('SIGKILL');
  await api.stop();
  await temporal.stop();
});

async function openAll(): Promise<ChildProcess> {
  const { hostname, port } = new URL(api.url);
  const args = ['--input-type=module', '-e', CLIENTS, hostname, port, String(CONNECTIONS)];
  clients = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(clients, 'exit').then(([code]) => Promise.reject(new Error(`the clients ended with ${code}`)));
  if (clients.stdout) await Promise.race([once(clients.stdout, 'data'), ended]);
  ended.catch(() => {});
  return clients;
}

/** Sent again when it is turned back, as senders do: the receiver answers 503 by itself after 1.5 s on a busy machine. */
async function untilTaken(id: string): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${SECRET}` };
  const body = JSON.stringify({ id });
  const deliver = () => fetch(`${api.url}/webhooks/docs/token`, { method: 'POST', headers, body });
  await waitFor(async () => (await deliver()).status === 202, { describe: 'taken' });
}

async function untilOpenFiles(describe: string, holds: (count: number) => boolean): Promise<void> {
  const openFiles = async (): Promise<number> => {
    const text = await (await fetch(`${api.url}/metrics`)).text();
    return Number(/^process_open_fds (\S+)/m.exec(text)?.[1] ?? Number.NaN);
  };
  await waitFor(async () => holds(await openFiles()), { describe });
}

setFlagsFromString('--expose-gc');
const free: () => void = runInNewContext('gc');

/** What is in use, and not what could be freed at some later time. */
function usedBytes(): number {
  free();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('Ten thousand idle connections, or as many as the machine allows, keep no delivery from being taken and leave no memory behind', async () => {
  await untilTaken('before');
  const beforeBytes = usedBytes();

  const { stdin } = await openAll();
  await untilOpenFiles('open', (count) => count > CONNECTIONS);
  await untilTaken('meanwhile');
  expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
  const meanwhileBytes = usedBytes();

  stdin?.end();
  await untilOpenFiles('closed', (count) => count < 1_000);
  await untilTaken('after');
  // Sockets that were closed linger for a moment.
  const fewBytes = beforeBytes + (meanwhileBytes - beforeBytes) / 4;
  await waitFor(() => usedBytes() < fewBytes, { describe: 'freed' });

  const held = (await publishedSignals(temporal.client, 'docs')).map(({ newest }) => newest.id);
  expect([...new Set(held)]).toEqual(['before', 'meanwhile', 'after']);
});
