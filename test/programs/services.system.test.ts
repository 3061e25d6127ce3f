import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJob } from '../../contract/admin-api.ts';
import { makeApiKey } from '../../platform/admin/api-key-text.ts';
import { freePort } from '../helpers/free-port.ts';
import { galley, type RunningGalley, spawnService, startGalley } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { startDevServer } from '../helpers/temporal.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('services that start before Temporal and PostgreSQL', () => {
  const cleanups = createCleanups();
  let folder: string;
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  let temporalPort: number;
  let variables: Record<string, string>;
  let api: RunningGalley;
  let platform: RunningGalley;
  let worker: Promise<RunningGalley>;
  let headers: Record<string, string>;
  let jobId: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'galley-services-'));
    cleanups.add(() => rm(folder, { recursive: true, force: true }));
    postgres = await startPostgres();
    cleanups.add(postgres.stop);
    await postgres.kill();
    temporalPort = await freePort();
    variables = {
      PORT: '0',
      PLATFORM_PORT: String(await freePort()),
      GALLEY_HOME: join(folder, 'state'),
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
    };
  });

  afterAll(cleanups.run);

  /** Programs that serve sites need a configuration without sites. */
  const argumentsOf = (name: string): string[] => (['api', 'worker'].includes(name) ? [name, '--no-config'] : [name]);

  async function start(name: string): Promise<RunningGalley> {
    const started = await startGalley(argumentsOf(name), variables, folder);
    cleanups.add(() => started.stop('SIGKILL'));
    return started;
  }

  /** Starts a worker and waits until it logs what it waits for. */
  async function startWaiting(name: string, waitsFor: string) {
    const service = await spawnService(argumentsOf(name), variables, folder);
    cleanups.add(async () => service.process.kill('SIGKILL'));
    await waitFor(() => service.output().includes(waitsFor), { describe: `said "${waitsFor}"` });
    return service;
  }

  const url = ({ ready }: RunningGalley): string => /http\S+/.exec(ready)?.[0] ?? '';
  const status = async (address: string, init?: RequestInit): Promise<number> => (await fetch(address, init)).status;
  const jobs = (): string => `${url(platform)}/v1/static-export/jobs`;
  const unknownKey = { headers: { authorization: `Bearer ${makeApiKey()}` } };

  test('listen and respond 503, or wait, and shut down in order at SIGTERM', async () => {
    [api, platform] = await Promise.all([start('api'), start('platform')]);
    expect(await status(`${url(api)}/healthz`)).toBe(200);
    expect(await status(`${url(api)}/readyz`)).toBe(503);
    expect(await status(jobs(), unknownKey)).toBe(503);
    worker = (await startWaiting('worker', 'Waiting for Temporal')).ready;
    const platformWorker = await startWaiting('platform-worker', 'database is away');
    platformWorker.process.kill('SIGTERM');
    await expect(platformWorker.ready).rejects.toThrow('exited with 0');
  });

  test('accept an export once PostgreSQL is up, even if Temporal is down', async () => {
    await postgres.restart();
    await waitFor(async () => (await status(jobs(), unknownKey)) === 401, { describe: 'refused the unknown key' });
    const site = await startHttpSite((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>One page</title>');
    });
    cleanups.add(site.close);
    const { stdout } = await galley(['keys', 'create', '--organization', 'acme', '--json'], variables);
    headers = { authorization: `Bearer ${JSON.parse(stdout).key}`, ...JSON_TYPE };
    const project = ['--project', 'prj_docs', '--domain', 'docs.example.com', '--origin', site.origin];
    await galley(['projects', 'add', '--organization', 'acme', ...project], variables);
    const accepted = await fetch(jobs(), { method: 'POST', headers, body: '{"domain":"docs.example.com"}' });
    expect(accepted.status).toBe(202);
    ({ jobId } = exportJob.parse(await accepted.json()));
  });

  test('work once Temporal is up, also on an export that a killed platform had accepted', async () => {
    await platform.stop('SIGKILL');
    const temporal = await startDevServer({ port: temporalPort });
    cleanups.add(temporal.stop);
    platform = await start('platform');
    const platformWorker = await start('platform-worker');
    const agentWorker = await start('agent-worker');
    const statusOfJob = async (): Promise<string> =>
      exportJob.parse(await (await fetch(`${jobs()}/${jobId}`, { headers })).json()).status;
    await waitFor(async () => (await statusOfJob()) === 'completed', { describe: 'completed the export' });
    await waitFor(async () => (await status(`${url(api)}/readyz`)) === 200, { describe: 'was ready' });
    expect((await worker).ready).toContain(`worker at 127.0.0.1:${temporalPort}`);
    for (const each of [api, await worker, platform, platformWorker, agentWorker])
      expect((await each.stop()).code).toBe(0);
  });
});
