import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { exportByService } from '../../cli/export/export-by-service.ts';
import { createAdminApiClient } from '../../client/admin-api-client.ts';
import { buildBundle } from '../deployment/bundles.ts';
import { type Finished, galleyHere } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();

type Respond = (path: string, origin: string) => unknown;

/** Runs `galley export` with a service in its variables. A response of undefined is a 404. */
async function exportBy(respond: Respond, ...args: string[]): Promise<Finished & { requests: string[] }> {
  const requests: string[] = [];
  const service = await startHttpSite((request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`.trim());
    const body = respond(request.url ?? '', service.origin);
    if (body === undefined) response.writeHead(404).end('{"error":"not here"}');
    else response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
  try {
    const variables = { ADMIN_API_URL: service.origin, ADMIN_API_KEY: 'galley_key' };
    return { ...(await galleyHere(['export', 'docs.example.com', ...args], variables, folder)), requests };
  } finally {
    await service.close();
  }
}

test('with ADMIN_API_URL, galley export starts a job there and downloads its bundle, from the fields of the seed', async () => {
  const bundle = await buildBundle({ files: { 'index.html': 'home' } });
  const sha256 = createHash('sha256').update(bundle).digest('hex');
  const respond: Respond = (path, origin) => {
    if (path.endsWith('/bundle')) return { bundleUrl: `${origin}/link`, sha256 };
    if (path === '/link') return bundle;
    return path.endsWith('/report') ? undefined : { jobId: 'j1', status: 'completed' };
  };
  const { code, stdout, requests } = await exportBy(respond, '--out', 'site.tar.gz');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      /site\.tar\.gz: unknown pages, 1 file, \d+ bytes\nThe service has no report of this export\.\n$/,
    ),
  });
  expect(requests).toEqual([
    'POST /v1/static-export/jobs Bearer galley_key',
    'GET /v1/static-export/jobs/j1 Bearer galley_key',
    'POST /v1/static-export/jobs/j1/bundle Bearer galley_key',
    'GET /link',
    'GET /v1/static-export/jobs/j1/report Bearer galley_key',
  ]);
  expect(await readFile(join(folder, 'site.tar.gz'))).toEqual(bundle);
});

test('--json has the content of the bundle, if it has a manifest', async () => {
  const served =
    (bundle: Buffer): Respond =>
    (path, origin) => {
      if (path.endsWith('/bundle')) return { bundleUrl: `${origin}/link` };
      if (path === '/link') return bundle;
      return path.endsWith('/report') ? undefined : { jobId: 'j1', status: 'completed' };
    };
  const bundle = await buildBundle({ files: { 'index.html': 'home', 'about.html': 'about' } });
  const known = await exportBy(served(bundle), '--out', 'site.tar.gz', '--json');
  expect(JSON.parse(known.stdout)).toMatchObject({
    fileCount: 2,
    contentSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const other = await exportBy(served(Buffer.from('no archive')), '--out', 'site.tar.gz', '--json');
  expect(other.code).toBe(0);
  expect(JSON.parse(other.stdout)).toMatchObject({ fileCount: null, contentSha256: null });
});

test('a job that fails is exit code 1 with its reason, and leaves no file', async () => {
  const respond: Respond = (path) =>
    path.endsWith('/report') ? undefined : { jobId: 'j1', status: 'failed', error: 'no origin' };
  const { code, stderr } = await exportBy(respond, '--out', 'site.tar.gz');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('The export failed: no origin (job j1)'),
  });
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ['--origin', 'http://127.0.0.1:1'],
  ['--incremental', 'state'],
])('%s is rejected, because it is a setting of the service', async (option, value) => {
  const { code, stderr, requests } = await exportBy(() => undefined, '--out', 'site.tar.gz', option, value);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(option) });
  expect(requests).toEqual([]);
});

test('an interrupted download ends at once, cancels the job and leaves no file', async () => {
  const interrupt = new AbortController();
  const requests: string[] = [];
  const service = await startHttpSite((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (request.url === '/link') {
      response.write('the beginning');
      setImmediate(() => interrupt.abort(new Error('interrupted')));
    } else if (request.url?.endsWith('/bundle')) response.end(JSON.stringify({ bundleUrl: `${service.origin}/link` }));
    else response.end(JSON.stringify({ jobId: 'j1', status: 'completed' }));
  });
  const client = createAdminApiClient({ url: service.origin, key: 'galley_key' });
  const options = { domain: 'docs.example.com', file: join(folder, 'site.tar.gz'), signal: interrupt.signal };
  await expect(exportByService(client, options)).rejects.toThrow('interrupted');
  await service.close();
  expect(requests).toEqual(expect.arrayContaining(['GET /link', 'POST /v1/static-export/jobs/j1/cancel']));
  expect(await readdir(folder)).toEqual([]);
});
