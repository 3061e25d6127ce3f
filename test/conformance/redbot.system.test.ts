import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { cacheFolder } from '../../embedded/cache-folder.ts';
import { entriesOf, gzipInMembers, manifestOf, packTar, sha256, siteOf } from '../deployment/bundles.ts';
import { FREE_PORTS } from '../helpers/free-port.ts';
import { galley, startGalley } from '../helpers/galley.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { page, startOriginSite } from '../helpers/system/origin-site.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { type Browser, openBrowser } from '../platform/dashboard/browser.ts';
import { PASSWORD } from '../platform/dashboard/dashboard-fixture.ts';
import { expectConformance, type Outcome, suitePath } from './conformance.ts';

/** What no client would notice: some close an idle connection in time because of that header, and statuses are checked. */
const ACCEPTED = ['The Keep-Alive header is deprecated.', "The server didn't understand the request."];

type Case = { what: string; status: number; path: string; method?: string; headers?: Headers; body?: string };
type Headers = Record<string, string>;
type Program = { name: string; url: string; cases: readonly Case[] };

let folder: string;
const cleanups = createCleanups();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-redbot-'));
  cleanups.add(() => rm(folder, { recursive: true, force: true }));
});
afterAll(cleanups.run);

/** Longer than the range that redbot requests. */
const LONG = '<!doctype html><title>long</title>'.padEnd(5_000, '<p>the same again</p>');
const SCRIPT = Array.from({ length: 100 }, (_, index) => `console.log('${sha256(String(index))}');`).join('');
const IMAGE = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(SCRIPT)]);
/** More than a deployment keeps in memory. */
const LARGE = Buffer.alloc(5 * 1024 ** 2, IMAGE);

const SITE = {
  ...siteOf('1', {
    '404.html': LONG,
    'guides/long.html': LONG,
    'logo.png': IMAGE,
    'style.3f0c2a9b.css': SCRIPT,
    'app.js': SCRIPT,
    'app.js.br': brotliCompressSync(SCRIPT),
    'app.js.gz': gzipSync(SCRIPT),
    'manual.zip': LARGE,
  }),
  contentTypes: { 'logo.png': 'image/png', 'manual.zip': 'application/zip' },
  redirects: [
    { from: '/old', to: '/guides/long', status: 301 as const },
    { from: '/away', to: 'https://elsewhere.example/', status: 302 as const },
  ],
};

async function writeBundle(): Promise<string> {
  const manifest = manifestOf(SITE);
  const encodings = { '.br': 'br', '.gz': 'gzip' } as const;
  const files = manifest.files.map((file) => {
    const encoding = Object.entries(encodings).find(([ending]) => file.path.endsWith(ending))?.[1];
    return encoding === undefined ? file : { ...file, encoding };
  });
  const path = join(folder, 'bundle.tar.gz');
  await writeFile(path, gzipInMembers(await packTar(entriesOf(SITE, { ...manifest, files }))));
  return pathToFileURL(path).href;
}

/** Starts a `galley deployment` with these values, and returns its URL. */
async function deploy(name: string, values: object, variables: Headers = {}): Promise<string> {
  const valuesFile = join(folder, `${name}.yaml`);
  await writeFile(valuesFile, JSON.stringify(values));
  const home = { ...FREE_PORTS, GALLEY_HOME: join(folder, name) };
  const deployment = await startGalley(['deployment', '--values', valuesFile], { ...home, ...variables }, folder);
  cleanups.add(() => deployment.stop('SIGKILL'));
  return /http\S+/.exec(deployment.ready)?.[0] ?? '';
}

async function untilServed(url: string): Promise<void> {
  const isServing = async () => (await fetch(`${url}/-/readyz`)).ok;
  await waitFor(isServing, { describe: 'served the bundle' });
}

/** Each class of response of a deployment. */
async function startDeployments(): Promise<Program[]> {
  const staticExport = { enabled: true, bundleUrl: await writeBundle() };
  const headers = { '/guides/*': { 'X-Robots-Tag': 'noindex', 'X-Frame-Options': null } };
  const [visited, airGapped, off, empty] = await Promise.all([
    deploy('visited', { staticExport, deployment: { headers } }),
    deploy('air-gapped', { staticExport, deployment: { kind: 'air-gapped' } }, { BASIC_AUTH: 'ada:secret' }),
    deploy('off', { staticExport: { enabled: false } }),
    deploy('empty', { staticExport: { enabled: true, bundleUrl: pathToFileURL(join(folder, 'none')).href } }),
  ]);
  await Promise.all([visited, airGapped].map(untilServed));
  const authorization = `Basic ${Buffer.from('ada:secret').toString('base64')}`;
  return [
    {
      name: 'deployment',
      url: visited,
      cases: [
        { what: 'a page, with rules for its headers', status: 200, path: '/guides/long' },
        {
          what: 'a page as the compressed one',
          status: 200,
          path: '/guides/long',
          headers: { 'Accept-Encoding': 'br' },
        },
        { what: 'HEAD of a page', status: 200, path: '/guides/long', method: 'HEAD' },
        { what: 'a page that the client has', status: 304, path: '/guides/long', headers: { 'If-None-Match': '*' } },
        { what: 'an image', status: 200, path: '/logo.png' },
        { what: 'a part of an image', status: 206, path: '/logo.png', headers: { Range: 'bytes=0-99' } },
        { what: 'a part that is missing', status: 416, path: '/logo.png', headers: { Range: 'bytes=9999-' } },
        { what: 'another image than the client has', status: 412, path: '/logo.png', headers: { 'If-Match': '"a"' } },
        { what: 'a file with a hash in its name', status: 200, path: '/style.3f0c2a9b.css' },
        { what: 'a precompressed file', status: 200, path: '/app.js' },
        { what: 'a precompressed file in gzip', status: 200, path: '/app.js', headers: { 'Accept-Encoding': 'gzip' } },
        { what: 'a large download', status: 200, path: '/manual.zip' },
        { what: 'a part of a large download', status: 206, path: '/manual.zip', headers: { Range: 'bytes=9-99' } },
        { what: 'HEAD of a large download', status: 200, path: '/manual.zip', method: 'HEAD' },
        { what: 'a permanent redirect', status: 301, path: '/old' },
        { what: 'HEAD of a redirect', status: 301, path: '/old', method: 'HEAD' },
        { what: 'a temporary redirect elsewhere', status: 302, path: '/away' },
        { what: 'a folder without its slash', status: 308, path: '/guides' },
        { what: 'a missing page', status: 404, path: '/nothing' },
        { what: 'HEAD of a missing page', status: 404, path: '/nothing', method: 'HEAD' },
        { what: 'a malformed path', status: 400, path: '/%00' },
        { what: 'another method', status: 405, path: '/', method: 'POST' },
        ...['status', 'capabilities', 'healthz', 'readyz', 'metrics'].map((path) => {
          return { what: `its ${path}`, status: 200, path: `/-/${path}` };
        }),
        { what: 'an unknown endpoint', status: 404, path: '/-/nothing' },
      ],
    },
    {
      name: 'air-gapped deployment with a password',
      url: airGapped,
      cases: [
        { what: 'a page', status: 200, path: '/guides/long', headers: { authorization } },
        {
          what: 'a file with a hash in its name',
          status: 200,
          path: '/style.3f0c2a9b.css',
          headers: { authorization },
        },
        { what: 'without the password', status: 401, path: '/' },
      ],
    },
    { name: 'deployment that is off', url: off, cases: [{ what: 'a page', status: 503, path: '/' }] },
    {
      name: 'deployment without a bundle',
      url: empty,
      cases: [
        { what: 'a page', status: 503, path: '/' },
        { what: 'its readyz', status: 503, path: '/-/readyz' },
      ],
    },
  ];
}

/** The cookies of a browser that went to these pages. */
async function signedIn(baseUrl: string, visit: (browser: Browser) => Promise<{ status: number }>): Promise<Headers> {
  const browser = openBrowser(baseUrl);
  expect(await visit(browser)).toMatchObject({ status: 303 });
  return { Cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') };
}

const exports = z.object({ jobs: z.array(z.object({ jobId: z.string() })).min(1) });
const bundle = z.object({ bundleUrl: z.string() });
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** A server before another one, which ends each stream of events after the first: redbot waits for the end of a response. */
async function endStreams(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let head = '';
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).on('end', () => client.end());
    client.on('data', (bytes) => void upstream.write(bytes));
    upstream.on('data', (bytes) => {
      head += bytes.toString('latin1');
      client.write(bytes);
      if (/^content-type: text\/event-stream/im.test(head) && head.endsWith('\n\n\r\n')) client.end('0\r\n\r\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.add(async () => void server.close());
  const address = server.address() as AddressInfo;
  return `http://127.0.0.1:${address.port}`;
}

const running = z.object({ control: z.url() });

/** `galley up` with one export of a site. */
async function startUp(): Promise<Program[]> {
  const origin = await startOriginSite({ '/': page('Home', ['/guide']), '/guide': page('Guide '.repeat(50)) });
  cleanups.add(origin.close);
  const variables = { ...FREE_PORTS, METRICS_PORT: '0', GALLEY_HOME: join(folder, 'up') };
  const init = ['init', '--yes', '--domain', 'docs.example.com', '--origin', origin.origin];
  expect(await galley(init, variables, folder)).toMatchObject({ code: 0 });
  const up = await startGalley(['up'], variables, folder);
  cleanups.add(() => up.stop('SIGKILL'));
  const urlOf = (part: string) => new RegExp(` ${part} (\\S+)`).exec(up.ready)?.[1] ?? '';
  const [platform, receiver, deployment] = [urlOf('platform'), urlOf('api'), urlOf('deployment')];
  expect(await galley(['sites', 'export', 'docs'], variables, folder)).toMatchObject({ code: 0 });
  await untilServed(deployment);
  const secret = async (name: string) => (await readFile(join(variables.GALLEY_HOME, name), 'utf8')).trim();
  const operator = { Authorization: `Bearer ${await secret('operator-token')}` };
  const key = { Authorization: `Bearer ${await secret('admin-api-key')}` };
  const setup = /\/ui\/setup\?link=\S+/.exec(up.output())?.[0] ?? '';
  const member = await signedIn(platform, async (browser) =>
    browser.submit(setup, '/ui/setup', {
      organization: 'acme',
      email: 'ada@acme.example',
      name: 'Ada',
      password: PASSWORD,
    }),
  );
  const link = (await galley(['open', 'docs', '--print'], variables, folder)).stdout.trim().slice(receiver.length);
  const user = await signedIn(receiver, (browser) => browser.submit(link, '/ui/sign-in', { name: 'Ada' }));
  const { control } = running.parse(JSON.parse(await readFile(join(variables.GALLEY_HOME, 'up.json'), 'utf8')));
  const events = (headers: Headers, path: string): Case[] => [
    { what: 'a stream of events', status: 200, path, headers },
    { what: 'HEAD of a stream of events', status: 200, path, headers, method: 'HEAD' },
  ];
  const jobId = await startExport(
    platform,
    async (...args) => (await galley(args, variables, folder)).stdout,
    origin.origin,
  );
  return [
    {
      name: 'sites page',
      url: await endStreams(receiver),
      cases: [
        ...events(user, '/ui/sites/docs/events'),
        { what: 'a stream of events without a session', status: 303, path: '/ui/sites/docs/events' },
      ],
    },
    { name: 'dashboard', url: await endStreams(platform), cases: events(member, `/ui/exports/${jobId}/events`) },
    {
      name: 'metrics of the worker',
      url: urlOf('metrics'),
      cases: [
        ...ok({}, '/metrics', '/-/healthz', '/-/readyz'),
        { what: 'HEAD of its metrics', status: 200, path: '/metrics', method: 'HEAD' },
        { what: 'an unknown path', status: 404, path: '/nothing' },
      ],
    },
    {
      name: 'server of backups',
      url: control,
      cases: [
        { what: 'a backup without the token', status: 401, path: '/backup', method: 'POST' },
        { what: 'a backup', status: 200, path: '/backup', method: 'POST', headers: operator },
        { what: 'an unknown path', status: 404, path: '/' },
      ],
    },
    { name: 'receiver', url: receiver, cases: receiverCases(operator) },
    { name: 'sites page', url: receiver, cases: await sitesPageCases(receiver, user) },
    { name: 'platform', url: platform, cases: await platformCases(platform, key) },
    { name: 'dashboard', url: platform, cases: dashboardCases(member) },
    { name: 'deployment of up', url: deployment, cases: [{ what: 'a page', status: 200, path: '/guide' }] },
  ];
}

const ok = (headers: Headers, ...paths: string[]): Case[] =>
  paths.map((path) => ({ what: path, status: 200, path, headers }));

function receiverCases(operator: Headers): Case[] {
  const path = '/webhooks/docs/contentful';
  return [
    ...ok({}, '/healthz', '/readyz', '/metrics'),
    ...ok(operator, '/sites', '/sites/docs'),
    { what: 'HEAD of /sites', status: 200, path: '/sites', method: 'HEAD', headers: operator },
    { what: 'a site without the token', status: 401, path: '/sites/docs' },
    { what: 'an unknown site', status: 404, path: '/sites/none', headers: operator },
    { what: 'an action', status: 200, path: '/sites/docs/resume', method: 'POST', headers: operator },
    {
      what: 'an action that is not possible',
      status: 409,
      path: '/sites/docs/unlock',
      method: 'POST',
      headers: operator,
    },
    { what: 'an unsigned delivery', status: 401, path, method: 'POST', headers: JSON_TYPE, body: '{}' },
    {
      what: 'a delivery that is no JSON',
      status: 415,
      path,
      method: 'POST',
      headers: { 'Content-Type': 'a/b' },
      body: 'a',
    },
    { what: 'a delivery by another method', status: 405, path },
    { what: 'an unknown path', status: 404, path: '/nothing' },
  ];
}

async function sitesPageCases(url: string, user: Headers): Promise<Case[]> {
  return [
    ...ok(user, '/', '/ui/sites/docs'),
    ...ok({}, '/ui/sign-in', ...(await assetsOf(`${url}/ui/sign-in`))),
    { what: 'without a session', status: 303, path: '/' },
    { what: 'an unknown page', status: 404, path: '/ui/none', headers: user },
  ];
}

/** The files that a page loads. */
async function assetsOf(url: string): Promise<string[]> {
  const found = (await (await fetch(url)).text()).matchAll(/(?:src|href)="(\/ui\/assets\/[^"]+)"/g);
  return [...new Set([...found].map(([, path = '']) => path))];
}

const created = z.object({ key: z.string() });
const started = z.object({ jobId: z.string() });

/** Starts an export of the member's organization. */
async function startExport(url: string, cli: (...args: string[]) => Promise<string>, origin: string): Promise<string> {
  const [organization, domain] = [['--organization', 'acme'], 'acme.example.com'];
  await cli('organizations', 'set', 'acme', '--plan', 'enterprise');
  await cli('projects', 'add', ...organization, '--project', 'prj_acme', '--domain', domain, '--origin', origin);
  const { key } = created.parse(JSON.parse(await cli('keys', 'create', ...organization, '--json')));
  const headers = { ...JSON_TYPE, Authorization: `Bearer ${key}` };
  const body = JSON.stringify({ domain });
  const answer = await fetch(`${url}/v1/static-export/jobs`, { method: 'POST', headers, body });
  return started.parse(await answer.json()).jobId;
}

async function newestJob(url: string, key: Headers): Promise<string> {
  const listed = await fetch(`${url}/v1/static-export/jobs?status=completed`, { headers: key });
  const [job] = exports.parse(await listed.json()).jobs;
  return job?.jobId ?? '';
}

async function platformCases(url: string, key: Headers): Promise<Case[]> {
  const jobs = `${url}/v1/static-export/jobs`;
  const jobId = await newestJob(url, key);
  const made = await fetch(`${jobs}/${jobId}/bundle`, { method: 'POST', headers: key });
  const { bundleUrl: path } = bundle.parse(await made.json());
  const job = `/v1/static-export/jobs/${jobId}`;
  const etag = (await fetch(path, { method: 'HEAD' })).headers.get('etag') ?? '';
  return [
    ...ok({}, '/healthz', '/readyz', '/metrics', '/openapi.json', '/docs/'),
    ...ok(key, '/v1/static-export/jobs', job, `${job}/report`, '/v2/agent/prj_docs/jobs').map((each) => ({
      ...each,
      what: each.path.replace(jobId, '{jobId}'),
    })),
    { what: 'without its slash: /docs', status: 308, path: '/docs' },
    { what: 'a job without a key', status: 401, path: job },
    { what: 'an unknown job', status: 404, path: '/v1/static-export/jobs/none', headers: key },
    { what: 'a wrong method', status: 405, path: job, method: 'PUT', headers: key },
    { what: 'a cancel', status: 200, path: `${job}/cancel`, method: 'POST', headers: key },
    { what: 'an invalid body', status: 400, path: jobs, method: 'POST', headers: { ...key, ...JSON_TYPE }, body: '{}' },
    { what: 'an unknown path', status: 404, path: '/nothing' },
    { what: 'a bundle', status: 200, path },
    { what: 'HEAD of a bundle', status: 200, path, method: 'HEAD' },
    { what: 'a part of a bundle', status: 206, path, headers: { Range: 'bytes=0-99' } },
    { what: 'a part that is missing', status: 416, path, headers: { Range: 'bytes=99999-' } },
    { what: 'a bundle that the client has', status: 304, path, headers: { 'If-None-Match': etag } },
    { what: 'a bundle with a wrong signature', status: 403, path: `${path}x` },
  ];
}

function dashboardCases(member: Headers): Case[] {
  const pages = ['projects', 'exports', 'agents', 'settings/keys', 'settings/members', 'settings/audit', 'account'];
  return [
    ...ok(member, '/', ...pages.map((each) => `/ui/${each}`)),
    ...ok({}, '/ui/sign-in', '/ui/forgot'),
    { what: 'without a session', status: 303, path: '/ui/projects' },
    { what: 'a form without its token', status: 403, path: '/ui/projects', method: 'POST', headers: member },
    { what: 'an unknown page', status: 404, path: '/ui/none', headers: member },
  ];
}

const verdicts = z.array(
  z.object({
    name: z.string(),
    status: z.int().nullable(),
    error: z.string().nullable(),
    notes: z.array(z.object({ note: z.string(), summary: z.string() })),
  }),
);

/** What redbot says about each case, in order. */
async function judge(programs: readonly Program[]): Promise<z.infer<typeof verdicts>> {
  suitePath();
  const requests = programs.flatMap(({ name, url, cases }) =>
    cases.map(({ what, path, method = 'GET', headers = {}, body = '' }) => {
      return { name: `${name}: ${what}`, url: new URL(path, url).href, method, headers: Object.entries(headers), body };
    }),
  );
  const python = join(cacheFolder(), 'suites-python', 'bin', 'python');
  const run = spawn(python, [join(import.meta.dirname, 'redbot-notes.py')]);
  run.stdin.end(JSON.stringify(requests));
  const [output, errors] = await Promise.all([text(run.stdout), text(run.stderr)]);
  if (output === '') throw new Error(`redbot failed: ${errors}`);
  return verdicts.parse(JSON.parse(output));
}

test('redbot has no warning about any response of any program that a client would notice', async () => {
  const programs = [...(await startDeployments()), ...(await startUp())];
  const judged = await judge(programs);
  const expected = programs.flatMap(({ name, cases }) =>
    cases.map(({ what, status }) => ({ name: `${name}: ${what}`, status, error: null })),
  );
  expect(judged.map(({ notes: _, ...each }) => each)).toEqual(expected);
  const outcomes = judged.flatMap(({ name, notes }): Outcome[] => {
    const warnings = new Set(notes.map(({ summary }) => summary).filter((each) => !ACCEPTED.includes(each)));
    if (warnings.size === 0) return [{ name, passed: true }];
    return [...warnings].map((warning) => ({ name: `${name}: ${warning}`, passed: false }));
  });
  expectConformance({
    file: 'redbot',
    suite: 'REDbot on every program',
    package: 'redbot',
    shows:
      'redbot has no error and no warning about the response, but that `Keep-Alive` is an old header, by which some clients close idle connections in time',
    outcomes,
  });
});
