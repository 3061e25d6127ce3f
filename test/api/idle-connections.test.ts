import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningGalley, startGalley } from '../helpers/galley.ts';
import { startDevServer, type TestDevServer } from '../helpers/temporal.ts';
import { publishedSignals } from './running-api.ts';

const SECRET = 'hush';

/**
 * Node raises the soft limit of open files to the hard one at its start, in the receiver as here. Where that is below
 * ten thousand and a few for everything else, there are as many connections as it allows.
 */
const OPEN_FILES =
  Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim()) || Number.POSITIVE_INFINITY;
const CONNECTIONS = Math.min(10_000, OPEN_FILES - 500);
const AT_A_TIME = 500;

/** Read into the receiver before its own code: at SIGUSR2 it frees what nothing uses, so that the rest can be measured. */
const FREE_ON_SIGNAL = `
  import { setFlagsFromString } from 'node:v8';
  import { runInNewContext } from 'node:vm';
  setFlagsFromString('--expose-gc');
  const free = runInNewContext('gc');
  process.on('SIGUSR2', () => free());
`;

let folder: string;
let temporal: TestDevServer;
let api: RunningGalley;
let url: URL;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-idle-'));
  temporal = await startDevServer();
  const site = `{domain: docs.example.com, projectId: prj_docs, webhooks: {token: {secret: ${SECRET}}}}`;
  const config = `adminApi: {url: "http://127.0.0.1:1", key: galley_unused}\nsites:\n  docs: ${site}\n`;
  await writeFile(join(folder, 'galley.yaml'), config);
  await writeFile(join(folder, 'free.mjs'), FREE_ON_SIGNAL);
  const variables = {
    PORT: '0',
    TEMPORAL_ADDRESS: temporal.address,
    GALLEY_HOME: join(folder, 'state'),
    NODE_OPTIONS: `--import ${join(folder, 'free.mjs')}`,
  };
  api = await startGalley(['api'], variables, folder);
  url = new URL(/http\S+/.exec(api.ready)?.[0] ?? '');
});

afterAll(async () => {
  await api.stop();
  await temporal.stop();
  await rm(folder, { recursive: true });
});

/** Every other one has begun a request; the rest says nothing at all. */
async function openAll(): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < CONNECTIONS) {
    const count = Math.min(AT_A_TIME, CONNECTIONS - sockets.length);
    const more = Array.from({ length: count }, () => connect(Number(url.port), url.hostname));
    await Promise.all(more.map((socket) => once(socket, 'connect')));
    for (const [index, socket] of more.entries()) {
      socket.on('error', () => {});
      if (index % 2 === 0) socket.write('POST /webhooks/docs/token HTTP/1.1\r\nHost: x\r\n');
    }
    sockets.push(...more);
  }
  return sockets;
}

async function deliver(id: string): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${SECRET}` };
  const body = JSON.stringify({ id });
  return (await fetch(`${url.origin}/webhooks/docs/token`, { method: 'POST', headers, body })).status;
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${url.origin}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN);
}

async function untilOpenFiles(holds: (count: number) => boolean): Promise<number> {
  let count = await metric('process_open_fds');
  for (let attempt = 0; attempt < 100 && !holds(count); attempt += 1) {
    await sleep(100);
    count = await metric('process_open_fds');
  }
  return count;
}

/** What is in use, and not what could be freed at some later time. */
async function usedBytes(): Promise<number> {
  api.process.kill('SIGUSR2');
  await sleep(300);
  return (await metric('nodejs_heap_size_used_bytes')) + (await metric('nodejs_external_memory_bytes'));
}

test('Ten thousand idle connections, or as many as the machine allows, keep no delivery from being taken and leave no memory behind', async () => {
  expect(await deliver('before')).toBe(202);
  const beforeBytes = await usedBytes();

  const sockets = await openAll();
  expect(await untilOpenFiles((count) => count > CONNECTIONS)).toBeGreaterThan(CONNECTIONS);
  // The receiver answers 503 by itself after 1.5 s.
  expect(await deliver('meanwhile')).toBe(202);
  expect((await fetch(`${url.origin}/healthz`)).status).toBe(200);
  const meanwhileBytes = await usedBytes();

  for (const socket of sockets) socket.destroy();
  expect(await untilOpenFiles((count) => count < 200)).toBeLessThan(200);
  expect(await deliver('after')).toBe(202);
  // Sockets that were closed linger for a moment.
  const fewBytes = beforeBytes + (meanwhileBytes - beforeBytes) / 4;
  let afterBytes = await usedBytes();
  for (let attempt = 0; attempt < 30 && afterBytes >= fewBytes; attempt += 1) afterBytes = await usedBytes();

  const held = (await publishedSignals(temporal.client, 'docs')).map(({ newest }) => newest.id);
  expect(held).toEqual(['before', 'meanwhile', 'after']);
  expect(afterBytes).toBeLessThan(fewBytes);
});
