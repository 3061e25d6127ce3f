import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { z } from 'zod';
import { type GuardedChild, spawnGuarded } from '../../embedded/guarded-child.ts';
import { shellEnvironment } from '../helpers/shell-environment.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { buildBundle, siteOf } from './bundles.ts';

const TIMEOUT_MS = 300_000;
const PORT = 3200;

/** Its only interface is the loopback, so that visitors in there reach it and it reaches nothing. */
const WITHOUT_ROUTES = 'ip link set lo up && echo $$ > "$PID_FILE" && exec "$@"';

/** Requests paths on one connection each, inside the namespace. */
const VISIT = `
const answers = [];
for (const path of process.argv.slice(1)) {
  const answer = await fetch('http://127.0.0.1:${PORT}' + path, { headers: { connection: 'close' } });
  answers.push([answer.status, await answer.text()]);
}
console.log(JSON.stringify(answers));
`;

let folder: string;
let deployment: GuardedChild;

beforeAll(async () => {
  const galley = await builtGalley();
  folder = await mkdtemp(join(tmpdir(), 'galley-air-gapped-'));
  await putBundle('1');
  await writeValues(pathToFileURL(join(folder, 'bundle.tar.gz')).href);
  const environment = shellEnvironment({
    GALLEY_HOME: join(folder, 'home'),
    DEPLOYMENT_PORT: String(PORT),
    PID_FILE: join(folder, 'pid'),
    LOG_LEVEL: 'warn',
  });
  const command = [process.execPath, galley, 'deployment', '--values', join(folder, 'values.yaml')];
  const namespace = ['--map-root-user', '--net', 'sh', '-c', WITHOUT_ROUTES, 'sh', ...command];
  deployment = spawnGuarded('unshare', namespace, environment);
  // A visit before that would be one more connection.
  await waitFor(() => deployment.output().includes('ready'), { describe: `started: ${deployment.output()}` });
}, TIMEOUT_MS);
afterAll(async () => {
  await deployment.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Its pages refer to other hosts, as real ones do. */
async function putBundle(version: string): Promise<void> {
  const page = `<script src="https://cdn.example.com/a.js"></script><img src="//img.example.com/a.png">page ${version}`;
  await writeFile(join(folder, 'bundle.new'), await buildBundle(siteOf(version, { 'away.html': page })));
  await rename(join(folder, 'bundle.new'), join(folder, 'bundle.tar.gz'));
}

async function writeValues(bundleUrl: string): Promise<void> {
  const values = { staticExport: { enabled: true, bundleUrl }, deployment: { kind: 'air-gapped' } };
  await writeFile(join(folder, 'values.new'), JSON.stringify(values));
  await rename(join(folder, 'values.new'), join(folder, 'values.yaml'));
}

async function processId(): Promise<string> {
  return (await readFile(join(folder, 'pid'), 'utf8')).trim();
}

let visits = 0;

async function inNamespace(script: string, args: readonly string[] = []): Promise<string> {
  const enter = ['--target', await processId(), '--user', '--net', '--preserve-credentials'];
  const node = [process.execPath, '--input-type=module', '--eval', script, ...args];
  const { stdout } = await execa('nsenter', [...enter, ...node], { env: shellEnvironment({}), extendEnv: false });
  return stdout;
}

async function visit(...paths: string[]): Promise<[status: number, text: string][]> {
  const answers = z.array(z.tuple([z.number(), z.string()])).parse(JSON.parse(await inNamespace(VISIT, paths)));
  visits += paths.length;
  return answers;
}

type Status = { version: string | null; stale: boolean; lastError: { message: string } | null };

async function until(expected: (status: Status) => boolean): Promise<Status> {
  return await waitFor(
    async () => {
      const [answer] = await visit('/-/status');
      const status: Status = JSON.parse(answer?.[1] ?? '');
      return expected(status) ? status : undefined;
    },
    { describe: `a status: ${deployment.output()}` },
  );
}

/**
 * What the kernel counted in the namespace: packets and connections without a route, datagrams such as a name server's
 * queries, and connections begun.
 */
async function counted(): Promise<{ withoutRoute: number; datagrams: number; connections: number }> {
  const network = `/proc/${await processId()}/net`;
  const lines = (await readFile(`${network}/snmp`, 'utf8')).split('\n').map((line) => line.split(/[: ]+/));
  const v4 = (group: string, name: string): number => {
    const [names = [], values = []] = lines.filter(([first]) => first === group);
    return Number(values[names.indexOf(name)]);
  };
  const six = new Map(
    (await readFile(`${network}/snmp6`, 'utf8')).split('\n').map((line) => {
      const [name = '', value] = line.split(/\s+/);
      return [name, Number(value)];
    }),
  );
  const v6 = (name: string): number => six.get(name) ?? Number.NaN;
  return {
    withoutRoute: v4('Ip', 'OutNoRoutes') + v6('Ip6OutNoRoutes'),
    datagrams: v4('Udp', 'OutDatagrams') + v6('Udp6OutDatagrams'),
    connections: v4('Tcp', 'ActiveOpens'),
  };
}

test(
  'an air-gapped deployment serves its site without a network, and asks for nothing: no host, no name',
  async () => {
    await until(({ version }) => version === '1');
    expect(await visit('/guides/start', '/away', '/-/readyz', '/nowhere')).toMatchObject([
      [200, '<title>start 1</title>'],
      [200, expect.stringContaining('page 1')],
      [200, expect.anything()],
      [404, expect.anything()],
    ]);
    await putBundle('2');
    await until(({ version, lastError }) => version === '2' && lastError === null);
    // A link to a host is refused before anything is looked up.
    await writeValues('https://docs.example.com/bundle.tar.gz');
    const refused = await until(({ lastError }) => lastError !== null);
    expect(refused).toMatchObject({ version: '2', stale: true });
    expect(refused.lastError?.message).toContain('an air-gapped deployment makes no outside request');
    await writeValues(pathToFileURL(join(folder, 'bundle.tar.gz')).href);
    await until(({ version, lastError }) => version === '2' && lastError === null);
    // Each visit was one connection; the deployment itself began none.
    expect(await counted()).toEqual({ withoutRoute: 0, datagrams: 0, connections: visits });
  },
  TIMEOUT_MS,
);

test(
  'the counters notice a name that is looked up and a host that is called',
  async () => {
    const before = await counted();
    await inNamespace("await fetch('http://docs.example.com/').catch(() => undefined)");
    const named = await counted();
    expect(named.withoutRoute + named.datagrams).toBeGreaterThan(before.withoutRoute + before.datagrams);
    await inNamespace("await fetch('http://192.0.2.1/').catch(() => undefined)");
    const called = await counted();
    expect(called.withoutRoute + called.connections).toBeGreaterThan(named.withoutRoute + named.connections);
  },
  TIMEOUT_MS,
);
