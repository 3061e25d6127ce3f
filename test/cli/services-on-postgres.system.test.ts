import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJob } from '../../contract/admin-api.ts';
import { freePort } from '../helpers/free-port.ts';
import { galley, startGalley } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { startDevServer } from '../helpers/temporal.ts';

const cleanups = createCleanups();

afterEach(cleanups.run);

test('the platform answers 503 while PostgreSQL is away, works when it comes back, and shares its keys with the command', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'galley-services-'));
  const postgres = await startPostgres();
  const variables = {
    PLATFORM_PORT: '0',
    GALLEY_HOME: folder,
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  };
  await postgres.kill();
  const platform = await startGalley(['platform'], variables);
  const jobs = `${/http\S+/.exec(platform.ready)?.[0]}/v1/static-export/jobs`;
  const statusWith = async (key: string): Promise<number> =>
    (await fetch(jobs, { headers: { authorization: `Bearer ${key}` } })).status;
  try {
    expect(await statusWith('galley_unknown')).toBe(503);
    await postgres.restart();
    await waitFor(async () => (await statusWith('galley_unknown')) === 401, { describe: 'refused the unknown key' });
    const { stdout } = await galley(['keys', 'create', '--organization', 'acme', '--json'], variables);
    expect(await statusWith(JSON.parse(stdout).key)).toBe(200);
    expect((await platform.stop('SIGTERM')).code).toBe(0);
  } finally {
    await platform.stop('SIGKILL');
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

test('an export that was accepted while Temporal is away happens once it is there, though the platform died meanwhile', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'galley-services-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true }));
  const postgres = await startPostgres();
  cleanups.add(postgres.stop);
  const site = await startHttpSite((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>One page</title>');
  });
  cleanups.add(site.close);
  const temporalPort = await freePort();
  const variables = {
    PLATFORM_PORT: String(await freePort()),
    GALLEY_HOME: folder,
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
  };
  const first = await startGalley(['platform'], variables);
  cleanups.add(() => first.stop('SIGKILL'));
  const { stdout } = await galley(['keys', 'create', '--organization', 'acme', '--json'], variables);
  const project = ['--project', 'prj_docs', '--domain', 'docs.example.com', '--origin', site.origin];
  await galley(['projects', 'add', '--organization', 'acme', ...project], variables);
  const jobs = `${/http\S+/.exec(first.ready)?.[0]}/v1/static-export/jobs`;
  const headers = { authorization: `Bearer ${JSON.parse(stdout).key}`, 'content-type': 'application/json' };
  const accepted = await fetch(jobs, { method: 'POST', headers, body: '{"domain":"docs.example.com"}' });
  expect(accepted.status).toBe(202);
  const { jobId } = exportJob.parse(await accepted.json());
  await first.stop('SIGKILL');

  const temporal = await startDevServer({ port: temporalPort });
  cleanups.add(temporal.stop);
  for (const program of ['platform', 'platform-worker']) {
    const started = await startGalley([program], variables);
    cleanups.add(() => started.stop('SIGKILL'));
  }
  const status = async (): Promise<string> => {
    const answer = await fetch(`${jobs}/${jobId}`, { headers });
    return exportJob.parse(await answer.json()).status;
  };
  await waitFor(async () => (await status()) === 'completed', { describe: 'completed the export' });
});
