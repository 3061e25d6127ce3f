import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { makeStack, type Stack, until } from './stack.ts';

/** What docker-compose.yml runs of Galley, and for good. */
const OWN = ['api', 'worker', 'platform', 'platform-worker', 'agent-worker', 'deployment'];
const OTHERS = ['postgres', 's3', 'temporal-postgres', 'temporal', 'temporal-ui'];

let stack: Stack;
// Before the folder is removed, which it needs.
afterAll(() => stack?.remove());
const folder = temporaryFolder();
beforeAll(async () => {
  stack = await makeStack(folder);
});

let published = 0;
/** A new text of the page, published. */
async function publishNext(): Promise<string> {
  published += 1;
  const text = `version ${published}`;
  await stack.publish(text);
  return text;
}

/** Runs `disturb` while a publish arrives every 3 s; resolves once the newest is served. */
async function underPublishes(disturb: () => Promise<unknown>): Promise<void> {
  let isOver = false;
  const publishing = (async () => {
    let newest = await publishNext();
    while (!isOver) {
      await delay(3_000);
      newest = await publishNext();
    }
    return newest;
  })();
  try {
    await disturb();
  } finally {
    isOver = true;
  }
  await stack.served(await publishing);
}

async function isHealthy(service: string): Promise<boolean> {
  const states = (await stack.inspect(service)).map(({ State }) => State.Health?.Status);
  return states.length > 0 && states.every((state) => state === 'healthy');
}

test('one command starts every service, and once it ends each is healthy', async () => {
  await stack.compose('up', '--detach', '--wait');
  for (const service of [...OWN, ...OTHERS]) expect([service, await isHealthy(service)]).toEqual([service, true]);
});

test('a signed publish is accepted, exported and served, and the next one, too', async () => {
  await stack.served(await publishNext());
  await stack.served(await publishNext());
  expect(await stack.exec('worker', 'galley', 'doctor')).toContain('Everything is in order.');
});

test('each process runs as a user, without capabilities, on a read-only root, with a home that it can write', async () => {
  for (const service of OWN) {
    const look =
      'id -u; grep -E "^(CapEff|NoNewPrivs)" /proc/self/status; touch /app/x 2>&1; touch /data/x && echo written';
    const [uid, ...rest] = (await stack.exec(service, 'sh', '-c', look)).split('\n');
    expect([service, uid]).toEqual([service, '1000']);
    expect(rest.map((line) => line.replaceAll(/\s+/g, ' '))).toEqual([
      'CapEff: 0000000000000000',
      'NoNewPrivs: 1',
      expect.stringContaining('Read-only file system'),
      'written',
    ]);
  }
});

test('the agents’ process reaches Temporal, PostgreSQL and S3, and nothing else', async () => {
  const ports = [
    'temporal:7233',
    'postgres:5432',
    's3:7070',
    'temporal-postgres:5432',
    'temporal-ui:8080',
    'outside:8080',
  ];
  const others = ['api:3000', 'worker:9464', 'platform:3100', 'platform-worker:9464', 'deployment:3200'];
  const script = `const { connect } = require('node:net');
    for (const at of ${JSON.stringify([...ports, ...others])}) {
      const [host, port] = at.split(':');
      connect({ host, port, timeout: 5000 }).on('connect', function () { console.log(at); this.destroy(); })
        .on('timeout', function () { this.destroy(); }).on('error', () => {});
    }`;
  const reached = async (service: string) => (await stack.exec(service, 'node', '-e', script)).split('\n').sort();
  expect(await reached('agent-worker')).toEqual(['postgres:5432', 's3:7070', 'temporal:7233']);
  // The same script reaches all from elsewhere.
  expect(await reached('outside')).toEqual([...ports, ...others].sort());
  // By address, too: networks are apart.
  const [worker] = await stack.inspect('worker');
  const address = Object.values(worker?.NetworkSettings.Networks ?? {})[0]?.IPAddress;
  const byAddress = `require('node:net').connect({ host: '${address}', port: 9464, timeout: 5000 })
    .on('connect', () => { console.log('reached'); process.exit(); })
    .on('timeout', () => process.exit()).on('error', () => process.exit())`;
  expect(await stack.exec('outside', 'node', '-e', byAddress)).toBe('reached');
  expect(await stack.exec('agent-worker', 'node', '-e', byAddress)).toBe('');
});

test('the profile `tls` opens only the paths that the outside needs, and `mailbox` starts', async () => {
  const profiles = ['platform', 'tls', 'mailbox'].flatMap((profile) => ['--profile', profile]);
  await stack.compose(...profiles, 'up', '--detach', '--wait');
  const asked = [
    ['receiver.localhost', '/webhooks/docs/contentful', 405],
    ['receiver.localhost', '/sites', 404],
    ['receiver.localhost', '/', 404],
    ['docs.localhost', '/', 200],
    ['docs.localhost', '/-/status', 404],
    ['dashboard.localhost', '/readyz', 200],
    ['files.localhost', '/health', 200],
  ] as const;
  const script = `const { request } = require('node:https');
    const ask = ([servername, path]) => new Promise((resolve, reject) =>
      request({ host: 'proxy', servername, path, headers: { host: servername }, rejectUnauthorized: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', reject).end());
    Promise.all(${JSON.stringify(asked)}.map(ask)).then((all) => console.log(JSON.stringify(all)));`;
  expect(JSON.parse(await stack.exec('outside', 'node', '-e', script))).toEqual(asked.map(([, , status]) => status));
  await stack.compose(...profiles, 'rm', '--stop', '--force', 'proxy', 'mailbox');
});

test('a site that galley.yaml gets later is served after the commands that the documents name', async () => {
  await stack.init('--domain', 'more.example.com', '--site', 'more');
  await stack.compose('restart', 'api', 'worker', 'projects', 'outside');
  await stack.compose('up', '--detach', '--wait');
  await stack.publish('of two sites', 'more');
  await stack.served('of two sites', 'more.example.com');
  await stack.served(await publishNext());
});

test('two of each kind share the work', async () => {
  const scales = ['api', 'worker', 'platform-worker'].flatMap((service) => ['--scale', `${service}=2`]);
  await stack.compose('up', '--detach', '--wait', ...scales);
  expect(
    await Promise.all(['api', 'worker', 'platform-worker'].map(async (each) => (await stack.inspect(each)).length)),
  ).toEqual([2, 2, 2]);
  await stack.served(await publishNext());
  await stack.served(await publishNext());
  await stack.compose('up', '--detach', '--wait');
});

test.each([...OWN, ...OTHERS])(
  '%s is killed and comes back under publishes, and the newest is served',
  async (service) => {
    const [before] = await stack.inspect(service);
    await underPublishes(async () => {
      // Not `docker kill`, after which an engine restarts nothing.
      process.kill(before?.State.Pid ?? 0, 'SIGKILL');
      await until(async () => (await stack.inspect(service))[0]?.State.StartedAt !== before?.State.StartedAt);
      await until(() => isHealthy(service));
    });
  },
);

test.each(['worker', 'platform', 'platform-worker', 'temporal', 'postgres', 's3'])(
  '%s stands still for 30 s under publishes, and the newest is served',
  async (service) => {
    await underPublishes(async () => {
      await stack.compose('pause', service);
      await delay(30_000);
      await stack.compose('unpause', service);
    });
  },
);

test('stop ends each process with 0 in the middle of an export, and start goes on with it', async () => {
  await stack.site('hold');
  const text = await publishNext();
  await until(async () => (await stack.site('waiting')) !== '0');
  await stack.compose('stop', ...OWN);
  for (const service of OWN) {
    const states = (await stack.inspect(service)).map(({ State }) => State.ExitCode);
    expect([service, states]).toEqual([service, [0]]);
  }
  await stack.site('release');
  await stack.compose('start', ...OWN);
  await stack.served(text);
});

test('down and up lose nothing', async () => {
  await stack.compose('down');
  await stack.compose('up', '--detach', '--wait');
  await stack.served(`version ${published}`);
  await stack.served(await publishNext());
});

test('no site has failed in the end', async () => {
  // Exits with 1 otherwise.
  expect(await stack.exec('api', 'galley', 'sites', 'status')).toContain('docs');
});
