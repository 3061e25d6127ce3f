import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeClock } from '../../cli/checks/services.ts';
import { createTestRepository } from '../helpers/forge-repository.ts';
import { FREE_PORTS } from '../helpers/free-port.ts';
import { galleyHere } from '../helpers/galley.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';
import { startScriptedSmtp } from '../helpers/smtp-server.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();

let site: HttpSite;
beforeAll(async () => {
  // The site, the forge and the Admin API.
  site = await startHttpSite((request, response) => {
    const { authorization } = request.headers;
    if (request.url === '/') response.end('<title>Home</title>');
    else if (request.url === '/api/v3/user') response.writeHead(authorization === 'token good' ? 200 : 401).end();
    else response.writeHead(authorization === 'Bearer galley_good' ? 404 : 401).end();
  });
});
afterAll(() => site.close());

async function configure(more: object = {}, ofSite: object = {}): Promise<void> {
  const docs = {
    domain: 'docs.example.com',
    origin: site.origin,
    export: { deployments: [{ valuesFile: 'values/docs.yaml' }] },
    ...ofSite,
  };
  await writeFile(join(folder, 'galley.yaml'), JSON.stringify({ sites: { docs }, ...more }));
}

interface Reported {
  ok: boolean;
  checks: { check: string; status: string; message: string; fix: string | null }[];
}

async function doctor(
  variables: Record<string, string> = {},
): Promise<Reported & { code: number | null; stderr: string }> {
  const home = join(folder, 'state');
  const { code, stdout, stderr } = await galleyHere(
    ['doctor', '--json'],
    { ...FREE_PORTS, GALLEY_HOME: home, ...variables },
    folder,
  );
  const reported: Reported = JSON.parse(stdout);
  return { code, stderr, ...reported };
}

function statusOf({ checks }: Reported, name: string): string | undefined {
  return checks.find(({ check }) => check === name)?.status;
}

test('a correct configuration is in order, in lines of 80 columns', async () => {
  await configure();
  const found = await doctor();
  expect(found).toMatchObject({ code: 0, ok: true, stderr: '' });
  expect(new Set(found.checks.map(({ check }) => check))).toEqual(
    new Set(['node', 'configuration', 'galley-home', 'disk', 'ports', 'temporal', 'site docs', 'clock']),
  );
  const { stdout } = await galleyHere(['doctor'], { ...FREE_PORTS, GALLEY_HOME: folder }, folder);
  expect(stdout).toMatch(/^ok {4}node: /);
  expect(stdout).not.toContain('\u001b');
  // A path stays whole, however long it is.
  expect(stdout.split('\n').filter((line) => line.length > 80 && line.trim().includes(' '))).toEqual([]);
});

test('a mistake in galley.yaml is exit code 2, and all other checks still run', async () => {
  await configure({ opertors: [] });
  const found = await doctor();
  expect(found.code).toBe(2);
  expect(found.checks).toContainEqual({
    check: 'configuration',
    status: 'fail',
    message: 'opertors: unknown key: did you mean operators? (line 1)',
    fix: expect.any(String),
  });
  expect(statusOf(found, 'disk')).toBe('ok');
});

test('what contradicts itself is a warning, as config check finds it', async () => {
  await configure();
  const found = await doctor({ OPERATOR_TOKEN: 'short' });
  expect(found.checks.filter(({ check }) => check === 'configuration')).toEqual([
    {
      ...{ check: 'configuration', status: 'warn', fix: 'galley config check rejects it.' },
      message: expect.stringContaining('OPERATOR_TOKEN: expected at least 16 characters'),
    },
  ]);
});

test('unreachable servers, wrong keys and secrets that others can read are reported, each with a fix', async () => {
  const smtp = { url: 'smtp://127.0.0.1:1', from: 'Galley <galley@example.com>' };
  await configure({ smtp, forge: { kind: 'github', url: site.origin, token: 'bad' } });
  await writeFile(join(folder, '.env'), 'ADMIN_API_KEY=galley_bad\n');
  await chmod(join(folder, '.env'), 0o644);
  await mkdir(join(folder, 'state'));
  await writeFile(join(folder, 'state', 'operator-token'), 'x', { mode: 0o644 });
  const found = await doctor({
    ADMIN_API_URL: site.origin,
    DATABASE_URL: 'postgres://127.0.0.1:1/galley',
    OBJECT_STORE_URL: pathToFileURL(join(folder, '.env', 'objects')).href,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  });
  expect(found).toMatchObject({ code: 1, ok: false });
  const wrong = found.checks.filter(({ status }) => status !== 'ok');
  expect(wrong.map(({ check, status }) => `${check} ${status}`)).toEqual([
    'env-file warn',
    'galley-home fail',
    'temporal fail',
    'admin-api fail',
    'database fail',
    'object-store fail',
    'smtp fail',
    'forge fail',
  ]);
  expect(wrong.every(({ fix }) => fix !== null)).toBe(true);
});

test('a mail server and a forge that accept Galley are in order', async () => {
  const server = await startScriptedSmtp();
  await configure({
    smtp: { url: server.url, from: 'Galley <galley@example.com>' },
    forge: { kind: 'github', url: site.origin, token: 'good' },
  });
  const found = await doctor();
  await server.close();
  expect({ smtp: statusOf(found, 'smtp'), forge: statusOf(found, 'forge') }).toEqual({ smtp: 'ok', forge: 'ok' });
});

test('each kind of deployment is checked, without a message to a deploy hook', async () => {
  const values = 'staticExport:\n  enabled: true\n';
  const repository = await createTestRepository({ 'values.yaml': values, 'us.yaml': values });
  const git = { repository: repository.url, path: 'values.yaml' };
  const secret = Buffer.from('a secret of the deploy hook').toString('base64');
  const helm = { release: 'docs', namespace: 'web', chart: 'oci://charts.test/docs' };
  await writeFile(join(folder, 'file'), '');
  await mkdir(join(folder, 'bin'));
  await writeFile(
    join(folder, 'bin', 'helm'),
    '#!/bin/sh\nif [ "$1" = version ]; then echo v9.9.9; else echo "Error: cluster unreachable" >&2; exit 1; fi\n',
    { mode: 0o755 },
  );
  const missing = join(folder, '..', 'galley-not-mounted');
  const deployments: [object, string, RegExp][] = [
    [{ git }, 'ok', /values.yaml in main of .* can be read, and pushed to/],
    [
      { git: { ...git, path: 'us.yaml', mode: 'pull-request' } },
      'ok',
      /pushed to; without .* forge, you open the pull requests/,
    ],
    [{ git: { ...git, branch: 'next' } }, 'fail', /no branch next/],
    [{ git: { ...git, path: 'eu.yaml' } }, 'warn', /no eu.yaml in main/],
    [{ git: { ...git, repository: `${repository.url}x` } }, 'fail', /does not exist/],
    [{ git: { ...git, repository: `${site.origin}/docs.git`, mode: 'pull-request' } }, 'fail', /refused access/],
    [{ helm }, 'fail', /helm v9.9.9 runs, but not for docs: .*cluster unreachable/],
    [{ http: { url: `${site.origin}/hook`, secret } }, 'ok', /no message was sent/],
    [{ http: { url: 'http://127.0.0.1:1/hook', secret } }, 'fail', /^http:\/\/127.0.0.1:1 can't be reached/],
    [{ directory: join(folder, 'www') }, 'ok', /can be created/],
    [{ directory: missing }, 'fail', /mount or create it/],
    [
      { s3: 's3://bucket-of-nobody/docs?endpoint=http://127.0.0.1:1' },
      'fail',
      /s3:\/\/bucket-of-nobody\/docs\/ can't be listed/,
    ],
    [{ airgap: join(folder, 'file') }, 'fail', /file can't be written/],
    [{ airgap: folder }, 'ok', /unsigned, because BUNDLE_SIGNING_KEY/],
    [{ valuesFile: 'eu.yaml', host: 'eu' }, 'warn', /host eu is not checked/],
  ];
  await configure({}, { export: { deployments: deployments.map(([entry]) => entry) } });
  const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
  site.requests.length = 0;
  const found = await doctor({ ...keys, PATH });
  await repository.remove();
  // The first is of the site's origin.
  const checks = found.checks.filter(({ check }) => check === 'site docs').slice(1);
  const wanted = deployments.map(([, status, message]) => ({
    ...{ status, message: expect.stringMatching(message) },
    fix: status === 'ok' ? null : expect.any(String),
  }));
  expect(checks).toMatchObject(wanted);
  expect(site.requests).not.toContain('/hook');
});

test.each([
  [1_000, 'ok', 'agrees with'],
  [-20_000, 'warn', '20 s ahead of'],
  [90_000, 'fail', '90 s behind'],
])('a clock that differs by %i ms: %s', (offsetMs, status, message) => {
  expect(describeClock('the database', offsetMs)).toMatchObject({ status, message: expect.stringContaining(message) });
});

describe('the Admin API', () => {
  let api: HttpSite;
  let starts: string[] = [];
  beforeAll(async () => {
    // Form `project` alone; a start with a valid body would be accepted.
    api = await startHttpSite((request, response) => {
      const { authorization, 'content-length': length } = request.headers;
      const isStart = request.method === 'POST' && request.url === '/v1/static-export/prj_docs/jobs';
      if (isStart) starts.push(`${request.url} ${length}`);
      const status = authorization !== 'Bearer galley_good' ? 401 : isStart ? 400 : 404;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":"no"}');
    });
  });
  beforeEach(() => {
    starts = [];
  });
  afterAll(() => api.close());

  const adminApiOf = ({ checks }: Reported) => checks.find(({ check }) => check === 'admin-api');

  test('is really called with the URL and key of galley.yaml, and its form is named', async () => {
    await configure({ adminApi: { url: api.origin, key: 'galley_good' } }, { projectId: 'prj_docs' });
    expect(adminApiOf(await doctor())).toMatchObject({
      status: 'ok',
      message: `${api.origin} accepts the key; it has form project of static export`,
    });
    expect(starts.length).toBeGreaterThan(0);
  });

  test('needs the form that galley.yaml names', async () => {
    const adminApi = { url: api.origin, key: 'galley_good', staticExport: 'domain' };
    await configure({ adminApi }, { projectId: 'prj_docs' });
    expect(adminApiOf(await doctor())).toMatchObject({
      status: 'fail',
      fix: 'Set adminApi.staticExport to project, or to auto.',
    });
  });

  test('of form project can only be found with a projectId', async () => {
    await configure({ adminApi: { url: api.origin, key: 'galley_good' } });
    const found = adminApiOf(await doctor());
    expect([found?.status, found?.message]).toEqual(['warn', expect.stringContaining('needs projectId')]);
  });
});
