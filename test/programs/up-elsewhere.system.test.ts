import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle, type ExportJob, exportJob } from '../../contract/admin-api.ts';
import { FREE_PORTS } from '../helpers/free-port.ts';
import { galley, startGalley } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { startS3 } from '../helpers/s3.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { startDevServer } from '../helpers/temporal.ts';

const cleanups = createCleanups();

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-up-elsewhere-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true }));
});

afterEach(cleanups.run);

test('galley up with an external Admin API starts no platform and no database, and says where to get keys', async () => {
  const hosted = await startHttpSite((_request, response) => response.writeHead(404).end());
  cleanups.add(hosted.close);
  await writeFile(join(folder, 'galley.yaml'), 'sites:\n  handbook:\n    domain: docs.example.com\n');
  const variables = {
    ...FREE_PORTS,
    GALLEY_HOME: join(folder, 'state'),
    ADMIN_API_URL: hosted.origin,
    ADMIN_API_KEY: 'a-key-of-that-service',
  };
  const up = await startGalley(['up'], variables, folder);
  cleanups.add(() => up.stop('SIGKILL'));
  expect(up.ready).toContain(`admin-api ${hosted.origin}`);
  expect(up.ready).not.toContain('platform');
  expect(await readdir(variables.GALLEY_HOME)).not.toContain('database');
  expect(await galley(['sites', 'status'], variables, folder)).toMatchObject({ code: 0, stderr: '' });
  expect(await galley(['keys', 'list'], variables, folder)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^galley: .*runs no platform.*ADMIN_API_URL\n$/),
  });
  expect((await up.stop('SIGINT')).code).toBe(0);
});

test('galley up with configured servers starts none of its own, and its links lead to S3', async () => {
  const postgres = await startPostgres();
  cleanups.add(postgres.stop);
  const s3 = await startS3();
  cleanups.add(s3.stop);
  const temporal = await startDevServer({ namespace: 'handbooks' });
  cleanups.add(temporal.stop);
  const site = await startHttpSite((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>One page</title>');
  });
  cleanups.add(site.close);
  const variables = {
    ...FREE_PORTS,
    GALLEY_HOME: join(folder, 'state'),
    DATABASE_URL: postgres.url,
    OBJECT_STORE_URL: s3.url,
    AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
  };
  const up = await startGalley(['up'], variables, folder);
  cleanups.add(() => up.stop('SIGKILL'));
  expect(up.ready).not.toContain(' ui ');
  expect(await readdir(variables.GALLEY_HOME)).not.toContain('temporal.db');

  const { stdout } = await galley(['keys', 'create', '--organization', 'acme', '--name', 'ci', '--json'], variables);
  const { id, key } = JSON.parse(stdout);
  const project = ['--project', 'prj_docs', '--domain', 'docs.example.com', '--origin', site.origin];
  expect((await galley(['projects', 'add', '--organization', 'acme', ...project], variables)).code).toBe(0);
  const jobs = `${/ platform (\S+)/.exec(up.ready)?.[1]}/v1/static-export/jobs`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = async (path = '', init: RequestInit = {}): Promise<unknown> =>
    await (await fetch(jobs + path, { ...init, headers })).json();
  const started = exportJob.parse(await ask('', { method: 'POST', body: '{"domain":"docs.example.com"}' }));
  const job = await waitFor(
    async (): Promise<ExportJob | false> => {
      const found = exportJob.parse(await ask(`/${started.jobId}`));
      return found.status === 'completed' && found;
    },
    { describe: 'completed the export' },
  );
  const made = bundle.parse(await ask(`/${job.jobId}/bundle`, { method: 'POST' }));
  expect(new URL(made.bundleUrl).origin).toBe(s3.endpoint);
  expect((await (await fetch(made.bundleUrl)).arrayBuffer()).byteLength).toBe(made.sizeBytes);

  const list = async (): Promise<string> =>
    (await galley(['keys', 'list', '--organization', 'acme'], variables)).stdout;
  expect(await list()).toMatch(new RegExp(`^${id} +galley_\\S+ +acme +enterprise +.* +active\\n  ci, created `, 'm'));
  expect(await list()).not.toContain(key);
  await galley(['keys', 'revoke', id], variables);
  expect(await list()).toMatch(/ revoked\b/);
  expect((await up.stop('SIGINT')).code).toBe(0);
});
