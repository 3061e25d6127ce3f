import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { type Document, parseDocument } from 'yaml';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { makeStack, OTHERS, OWN, type Stack, until } from './stack.ts';

let stack: Stack;
// Before the folder is removed, which it needs.
afterAll(() => stack?.remove());
const folder = temporaryFolder();
beforeAll(async () => {
  stack = await makeStack(folder);
});

/** Stops Galley's services, and each of their processes ends with 0. */
async function stopWithZero(): Promise<void> {
  await stack.compose('stop', ...OWN);
  for (const service of OWN) {
    const states = (await stack.inspect(service)).map(({ State }) => State.ExitCode);
    expect([service, states]).toEqual([service, [0]]);
  }
}

test('the commands of the page lead to a served page, and every service is healthy', async () => {
  await stack.runPage('With containers', 0, ['--domain', 'docs.example.com']);
  const from = performance.now();
  await stack.compose('up', '--detach', '--wait', 'outside');
  await stack.runPage('With containers', 1);
  console.info(`Healthy after ${((performance.now() - from) / 1_000).toFixed(0)} s`);
  for (const service of [...OWN, ...OTHERS]) expect([service, await stack.isHealthy(service)]).toEqual([service, true]);
  await stack.served('nothing');
});

test('the next signed publish is served, too', async () => {
  const text = await stack.publishNext();
  const from = performance.now();
  await stack.served(text);
  console.info(`Served after ${((performance.now() - from) / 1_000).toFixed(1)} s`);
  await stack.served(await stack.publishNext());
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

test('what a container shows of itself has no secret that the settings lack', async () => {
  const settings = await Promise.all(
    ['.env', 'sites.env', 'agent.env'].map((name) => readFile(join(folder, name), 'utf8')),
  );
  const known = new Set(Object.values(parseEnv(settings.join('\n'))));
  for (const service of [...OWN, 'projects']) {
    const [container] = await stack.inspect(service);
    const { Env = [], Cmd } = container?.Config ?? {};
    const secrets = [...Env, ...(Cmd ?? [])].join('\n').match(/galley_[\w-]{20,}|\b[0-9a-f]{40,}\b/g) ?? [];
    expect([service, secrets.filter((each) => !known.has(each))]).toEqual([service, []]);
  }
});

test('the log of each service has a limit, and takes turns in several files', async () => {
  for (const service of [...OWN, ...OTHERS]) {
    const [container] = await stack.inspect(service);
    expect([service, container?.HostConfig.LogConfig.Config]).toEqual([
      service,
      { 'max-size': '10m', 'max-file': '5' },
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
  const byAddress = `require('node:net').connect({ host: '${await stack.addressOf('worker')}', port: 9464, timeout: 5000 })
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
  await stack.runPage('With containers', 0, ['--domain', 'more.example.com', '--site', 'more']);
  await stack.runPage('With containers', 2);
  await stack.publish('of two sites', 'more');
  await stack.served('of two sites', 'more.example.com');
  await stack.served(await stack.publishNext());
});

test('two of each kind share the work', async () => {
  const scales = ['api', 'worker', 'platform-worker'].flatMap((service) => ['--scale', `${service}=2`]);
  await stack.compose('up', '--detach', '--wait', ...scales);
  expect(
    await Promise.all(['api', 'worker', 'platform-worker'].map(async (each) => (await stack.inspect(each)).length)),
  ).toEqual([2, 2, 2]);
  await stack.served(await stack.publishNext());
  await stack.served(await stack.publishNext());
  await stack.compose('up', '--detach', '--wait');
});

test.each([...OWN, ...OTHERS])(
  '%s is killed and comes back under publishes, and the newest is served',
  async (service) => {
    const [before] = await stack.inspect(service);
    await stack.underPublishes(async () => {
      // Not `docker kill`, after which an engine restarts nothing.
      process.kill(before?.State.Pid ?? 0, 'SIGKILL');
      await until(async () => (await stack.inspect(service))[0]?.State.StartedAt !== before?.State.StartedAt);
      await until(() => stack.isHealthy(service));
    });
  },
);

test.each([...OWN, ...OTHERS])(
  '%s stands still for 30 s under publishes, and the newest is served',
  async (service) => {
    await stack.underPublishes(async () => {
      await stack.compose('pause', service);
      await delay(30_000);
      await stack.compose('unpause', service);
    });
  },
);

test('stop ends each process with 0 in the middle of an export, and start goes on with it', async () => {
  await stack.site('hold');
  const text = await stack.publishNext();
  await until(async () => (await stack.site('waiting')) !== '0');
  await stopWithZero();
  await stack.site('release');
  await stack.compose('start', ...OWN);
  await stack.served(text);
});

describe('a long write, to a repository whose hook waits', () => {
  const edit = async (change: (config: Document) => unknown) => {
    const config = parseDocument(await readFile(join(folder, 'galley.yaml'), 'utf8'));
    change(config);
    await writeFile(join(folder, 'galley.yaml'), config.toString());
    await stack.compose('up', '--detach', '--wait');
    await stack.runPage('With containers', 2);
  };
  const inRepository = (script: string) =>
    stack.exec('outside', 'sh', '-c', `cd /repository && export GIT_DIR=/repository/live.git && ${script}`);

  beforeAll(async () => {
    const hook = 'touch /repository/writing; while [ -e /repository/hold ]; do sleep 0.2; done';
    await inRepository(`git init --quiet --bare --initial-branch main &&
      git -c user.name=docs -c user.email=docs@example.com commit-tree -m first $(git mktree </dev/null) >first &&
      git update-ref refs/heads/main $(cat first) && printf '#!/bin/sh\n${hook}\n' >live.git/hooks/pre-receive &&
      chmod 755 live.git/hooks/pre-receive && chown --recursive 1000:1000 /repository`);
    const target = {
      name: 'live',
      git: { repository: 'file:///repository/live.git', branch: 'main', path: 'values.yaml' },
    };
    await edit((config) => config.addIn(['sites', 'docs', 'export', 'deployments'], target));
  });
  afterAll(() => edit((config) => config.deleteIn(['sites', 'docs', 'export', 'deployments', 1])));

  test('is ended by stop with 0, and start goes on with it', async () => {
    const written = 'git show main:values.yaml 2>/dev/null || true';
    const before = await inRepository(written);
    await inRepository('rm -f writing; touch hold');
    const text = await stack.publishNext();
    await until(async () => (await inRepository('ls')).includes('writing'));
    await stopWithZero();
    expect(await inRepository(written)).toBe(before);
    await inRepository('rm hold');
    await stack.compose('start', ...OWN);
    await until(async () => (await inRepository(written)) !== before);
    await stack.served(text);
  });
});

test('down and up lose nothing', async () => {
  const text = await stack.publishNext();
  await stack.served(text);
  await stack.compose('down');
  await stack.compose('up', '--detach', '--wait');
  await stack.served(text);
  await stack.served(await stack.publishNext());
});

describe('an agent in its sandbox', () => {
  const mails = async (): Promise<unknown[]> =>
    JSON.parse(
      await stack.exec(
        'outside',
        'node',
        '-e',
        "fetch('http://mailbox:1080/email').then((r) => r.text()).then(console.log)",
      ),
    );

  beforeAll(async () => {
    const make = `git init --quiet --initial-branch main /tmp/docs && cd /tmp/docs && echo Hello >README.md && git add . &&
      git -c user.name=docs -c user.email=docs@example.com commit --quiet --message first &&
      git clone --quiet --bare . /repository/docs.git && chown --recursive 1000:1000 /repository`;
    await stack.exec('outside', 'sh', '-c', make);
    const repository = ['--project', 'prj_docs', '--repository', 'file:///repository/docs.git'];
    await stack.exec('platform', 'galley', 'projects', 'set', ...repository);
    const config = parseDocument(await readFile(join(folder, 'galley.yaml'), 'utf8'));
    config.set('smtp', { url: 'smtp://mailbox:1025', from: 'galley@example.com' });
    config.setIn(
      ['sites', 'docs', 'agent'],
      [{ name: 'greeting', on: 'publish', prompt: 'Greet.', reviewers: ['ada@example.com'], quietPeriod: '1s' }],
    );
    await writeFile(join(folder, 'galley.yaml'), config.toString());
    await writeFile(join(folder, 'agent.env'), "AGENT_COMMAND=sh -c 'sleep 10; date >README.md'\n");
    await stack.compose('--profile', 'platform', '--profile', 'mailbox', 'up', '--detach', '--wait');
    await stack.runPage('With containers', 2);
  });

  test('makes a change that is mailed to the reviewer', async () => {
    await stack.served(await stack.publishNext());
    await until(async () => (await mails()).length === 1);
    expect(await mails()).toMatchObject([{ to: [{ address: 'ada@example.com' }] }]);
  });

  test('is seen in a browser, in the mailbox and in Temporal’s UI', async () => {
    const browser = await stack.openBrowser();
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(120_000);
      await page.goto(`http://${await stack.addressOf('mailbox')}:1080`);
      await page.getByText('ada@example.com').first().waitFor();
      await page.goto(`http://${await stack.addressOf('temporal-ui')}:8080/namespaces/galley/workflows`);
      await page.getByText('export:docs').first().waitFor();
    } finally {
      await browser.close();
    }
  });

  test('goes on after stop and start, and each process ended with 0', async () => {
    const text = await stack.publishNext();
    const list = 'set -a; . /settings/sites.env; galley agents list --project prj_docs --json';
    await until(async () => (await stack.exec('outside', 'sh', '-c', list)).includes('"active"'));
    await stopWithZero();
    await stack.compose('start', ...OWN);
    await until(async () => (await mails()).length === 2);
    await stack.served(text);
  });
});

test('a backup of the running stack, restored where nothing is, goes on with the next publish', async () => {
  const text = await stack.publishNext();
  await stack.served(text);
  await stack.runPage('Back up the containers', 0);
  await stack.compose('down', '--volumes');
  await stack.runPage('Back up the containers', 1);
  // The restored link leads to the restored bundle.
  await stack.served(text);
  await stack.served(await stack.publishNext());
});

test('no site has failed in the end', async () => {
  // Exits with 1 otherwise.
  expect(await stack.exec('api', 'galley', 'sites', 'status')).toContain('docs');
});
