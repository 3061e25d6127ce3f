import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../helpers/free-port.ts';
import { galley, type RunningGalley, spawnService, startGalley } from '../helpers/galley.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { startDevServer, type TestDevServer } from '../helpers/temporal.ts';

let folder: string;
let variables: Record<string, string>;
let temporalPort: number;
let temporal: TestDevServer | undefined;
const running: RunningGalley[] = [];

async function start(...args: string[]): Promise<RunningGalley> {
  const started = await startGalley(args, variables, folder);
  running.push(started);
  return started;
}

async function status(url: string): Promise<number> {
  return (await fetch(url)).status;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-services-'));
  temporalPort = await freePort();
  variables = {
    PORT: '0',
    PLATFORM_PORT: '0',
    DEPLOYMENT_PORT: '0',
    GALLEY_HOME: join(folder, 'state'),
    TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
  };
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop('SIGKILL')));
  await temporal?.stop();
  temporal = undefined;
  await rm(folder, { recursive: true, force: true });
});

describe('a service without what it needs', () => {
  test('api listens without Temporal, says so, and is ready when Temporal comes', async () => {
    const api = await start('api');
    const url = /http\S+/.exec(api.ready)?.[0] ?? '';
    expect(await status(`${url}/healthz`)).toBe(200);
    expect(await status(`${url}/readyz`)).toBe(503);
    temporal = await startDevServer({ port: temporalPort });
    await waitFor(async () => (await status(`${url}/readyz`)) === 200, { describe: 'was ready' });
    expect((await api.stop('SIGTERM')).code).toBe(0);
  });

  test('worker waits for Temporal without an end of its own, and works when it comes', async () => {
    const waiting = startGalley(['worker'], variables, folder);
    let ready = false;
    void waiting.then(
      () => {
        ready = true;
      },
      () => undefined,
    );
    await sleep(4_000);
    expect(ready).toBe(false);
    temporal = await startDevServer({ port: temporalPort });
    const worker = await waiting;
    running.push(worker);
    expect(worker.ready).toContain(`worker at 127.0.0.1:${temporalPort}`);
    expect((await worker.stop('SIGTERM')).code).toBe(0);
  });

  test('platform-worker waiting for its database ends at SIGTERM with 0', async () => {
    variables.DATABASE_URL = `postgres://postgres:postgres@127.0.0.1:${await freePort()}/postgres`;
    const worker = await spawnService(['platform-worker'], variables, folder);
    const ended = worker.ready.then(
      () => 'ready',
      (error: unknown) => String(error),
    );
    await waitFor(() => worker.output().includes('database is away'), { describe: 'waited for its database' });
    expect(await Promise.race([ended, Promise.resolve('waiting')])).toBe('waiting');
    worker.process.kill('SIGTERM');
    expect(await ended).toMatch(/ended with 0: .*database is away/s);
  });

  test.each(['platform', 'platform-worker'])('%s without DATABASE_URL is exit code 2, and says so', async (command) => {
    const { code, stderr } = await galley([command], variables, folder);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^galley: DATABASE_URL: expected postgres:/);
  });

  test('a link lifetime that the object store can not sign is exit code 2 and names BUNDLE_LINK_TTL', async () => {
    const { code, stderr } = await galley(
      ['platform'],
      {
        ...variables,
        DATABASE_URL: 'postgres://127.0.0.1:1/x',
        OBJECT_STORE_URL: 's3://bucket?region=eu-west-1',
        BUNDLE_LINK_TTL: '8d',
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'b',
      },
      folder,
    );
    expect(stderr).toMatch(/^galley: .*BUNDLE_LINK_TTL/);
    expect(code).toBe(2);
  });

  test('deployment with a values file that is wrong is exit code 2 and names the key', async () => {
    const file = join(folder, 'values.yaml');
    await writeFile(file, 'staticExport:\n  enabled: perhaps\n');
    const { code, stderr } = await galley(['deployment', '--values', file], variables, folder);
    expect(stderr).toMatch(/staticExport\.enabled/);
    expect(code).toBe(2);
  });
});
