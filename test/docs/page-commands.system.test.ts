import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse, stringify } from 'yaml';
import { cacheFolder } from '../../embedded/cache-folder.ts';
import { createAgentRepository } from '../helpers/agent-repository.ts';
import { FREE_PORTS, freePort } from '../helpers/free-port.ts';
import { collect, type Finished, type RunningGalley, untilReady } from '../helpers/galley.ts';
import { serveFiles, startHttpSite } from '../helpers/http-site.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { locateRealTool } from '../helpers/real-tool.ts';
import { shellEnvironment } from '../helpers/shell-environment.ts';
import { type ScriptedSmtpServer, startScriptedSmtp } from '../helpers/smtp-server.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { createCleanups } from '../helpers/system/cleanups.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { checkClient } from './client-page.ts';
import { blocksOf, linesOf, RUN_BY_OTHER_TESTS, RUN_HERE } from './pages.ts';

const cleanups = createCleanups();
afterAll(cleanups.run);

/** A path with spaces, as people have them. */
const root = temporaryFolder();
const home = join(root, 'my docs');
const prefix = join(root, 'global prefix');

/** Commands that run until they are ended. */
const SERVICE = /\bgalley (up|api|worker|platform|deployment --values)\b/;

let origin: string;
let mailbox: ScriptedSmtpServer;
let repository: string;
let env: Record<string, string>;
let productionPorts: Record<string, string>;
/** The running `galley up`, and the addresses in its line `ready`. */
let up: RunningGalley | undefined;
const address = (name: string): string => new RegExp(` ${name} (\\S+)`).exec(up?.ready ?? '')?.[1] ?? `no ${name}`;

/** What a reader of the page puts in place of its examples, and does before one of its commands and after all. */
type Reader = {
  replace?: () => Promise<[text: string, own: string][]> | [text: string, own: string][];
  before?: Record<string, () => Promise<unknown>>;
  after?: () => Promise<unknown>;
  variables?: () => Record<string, string>;
  folder?: string;
};

const READERS: Record<string, Reader> = {
  'README.md': {
    folder: join(root, 'readme'),
    replace: () => [['galley init', `galley init --yes --domain docs.example.com --origin ${origin}`]],
  },
  'docs/getting-started.md': {
    replace: () => [
      ['npm ci && npm pack', `npm pack --loglevel=error '${process.cwd()}'`],
      ['npm install', 'npm install --no-audit --no-fund --prefer-offline --loglevel=error'],
      ['galley init', `galley init --yes --domain docs.example.com --origin ${origin}`],
      ['../docs.git', repository],
      ['your-agent --yes', 'sh -c "cat >> CHANGELOG.md"'],
    ],
    before: {
      'galley sites export': checkStart,
      'galley webhook send': checkExport,
      AGENT_COMMAND: async () => {
        const page = await readFile('docs/getting-started.md', 'utf8');
        await edit((config) => {
          const [, text = ''] = /```yaml\n( *smtp:[\s\S]*?)```/.exec(page) ?? [];
          const example = parse(text.replace('smtp://127.0.0.1:1025', mailbox.url));
          config.sites.docs.agent = example.sites.docs.agent;
          // Of docs/sources/hmac.md.
          // biome-ignore lint/suspicious/noTemplateCurlyInString: galley.yaml's way to name a variable.
          config.sites.docs.webhooks.hmac = { secret: '${WEBHOOK_SECRET}', header: 'X-Signature' };
          return { ...example, ...config };
        });
      },
    },
  },
  'docs/reference/cli.md': {
    replace: () => [
      ['http://127.0.0.1:3000', address('api')],
      ['../docs.git', repository],
    ],
  },
  'docs/sources/hmac.md': { replace: () => [['https://galley.example.com', address('api')]] },
  'docs/guide/agents.md': { replace: () => [['/etc/galley/', '']] },
  'docs/guide/embedded-forge.md': {
    replace: () => [
      ['file:///srv/docs.git', pathToFileURL(repository).href],
      ['http://127.0.0.1:3000', address('api')],
    ],
  },
  'docs/guide/agent-rules.md': {
    replace: async () => [['DELIVERY', await deliveryOfChange()]],
    before: {
      'galley agents remove': async () => {
        await edit((config) => {
          delete config.sites.docs.agent;
          // `galley up` sets its URL and token; the workers of later pages start alone.
          delete config.forge;
          return config;
        });
        await start('galley up', home);
      },
    },
  },
  'docs/guide/one-shot-export.md': { replace: () => [['http://127.0.0.1:8080', origin]] },
  'docs/guide/deployment.md': {
    // Beside the deployment of `galley up`.
    replace: () => [
      ['galley deployment ', `DEPLOYMENT_PORT=0 GALLEY_HOME='${root}/deployment' galley deployment `],
      ['/media/usb', root],
    ],
    before: {
      'galley deployment --values values.yaml': async () => {
        for (const name of ['values.yaml', 'docs.yaml', 'blog.yaml'])
          await copyFile(join(home, 'values/docs.yaml'), join(home, name));
      },
      'galley deployment import': async () => {
        await servesTheGuide(addressOf(services[0]));
        await mkdir(join(root, 'docs'), { recursive: true });
        await copyFile(join(home, 'signed.tar.gz'), join(root, 'docs/bundle.tar.gz'));
        await copyFile(join(home, 'values.yaml'), join(root, 'docs/values.yaml'));
        await shell('sha256sum bundle.tar.gz values.yaml > SHA256SUMS', join(root, 'docs'));
      },
    },
  },
  'docs/operate/states.md': {
    replace: async () => {
      const { stdout } = await shell('galley exports list --json', home);
      const { jobs } = JSON.parse(stdout);
      const { jobId, version } = jobs.at(-1);
      return [
        ['2026-11-21.3', version],
        ['se_4f0c2a9be1d35768', jobId],
      ];
    },
  },
  'docs/operate/traces.md': { variables: () => ({ ...adminApi(), TEMPORAL_ADDRESS: address('temporal') }) },
  'docs/guide/client.md': {
    folder: join(root, 'client'),
    // Links what the first page installed from the package: a second copy takes minutes.
    replace: () => [['../galley/galley-0.2.0.tgz', `--ignore-scripts '${prefix}/lib/node_modules/galley'`]],
    after: () => checkClient(join(root, 'client')),
  },
  'docs/operate/production.md#Without containers': {
    folder: join(root, 'production'),
    variables: () => productionPorts,
    replace: async () => {
      const database = await startPostgres();
      cleanups.add(database.stop);
      return [
        ['temporal.internal:7233', address('temporal')],
        ['postgres://galley:…@db.internal/galley', database.url],
        ['s3://galley?endpoint=https%3A%2F%2Fs3.internal&region=eu-1', pathToFileURL(join(root, 'objects')).href],
        ['https://platform.example.com', `http://127.0.0.1:${productionPorts.PLATFORM_PORT}`],
        ['http://site.internal:8080', origin],
        ['OPERATOR_TOKEN=…', 'OPERATOR_TOKEN=a-token-of-at-least-32-characters'],
        ['/etc/galley', join(root, 'production')],
        ['/var/lib/galley', join(root, 'production-state')],
      ];
    },
    after: () => servesTheGuide(addressOf(services.at(-1))),
  },
  'docs/operate/backup-and-upgrades.md': {
    before: {
      'temporal worker deployment set-ramping-version': async () => {
        const versioned = 'WORKER_DEPLOYMENT=galley WORKER_BUILD_ID=0.2.0 galley worker';
        await start(versioned, home, { ...adminApi(), TEMPORAL_ADDRESS: address('temporal') });
      },
    },
  },
  'docs/reference/admin-api.md': { variables: () => adminApi() },
};

/** As with the default ones, links and addresses stay after a restart. */
async function fixedPorts(): Promise<Record<string, string>> {
  const ports = Object.keys(FREE_PORTS).map(async (name) => [name, String(await freePort())] as const);
  return Object.fromEntries(await Promise.all(ports));
}

const addressOf = (service: RunningGalley | undefined): string => /http:\S+/.exec(service?.ready ?? '')?.[0] ?? 'none';

const adminApi = (): Record<string, string> => ({
  ADMIN_API_URL: address('platform'),
  ADMIN_API_KEY: readFileSync(join(home, '.galley/admin-api-key'), 'utf8').trim(),
});

beforeAll(async () => {
  await builtGalley();
  const site = await startHttpSite(
    serveFiles({
      '/': '<!doctype html><html lang="en"><title>Home</title><link rel="icon" href="data:,"><a href="/guide">Guide</a>',
      '/guide': '<!doctype html><html lang="en"><title>Guide</title><link rel="icon" href="data:,"><p>The guide',
      '/robots.txt': { body: '', contentType: 'text/plain' },
    }),
  );
  cleanups.add(site.close);
  origin = site.origin;
  mailbox = await startScriptedSmtp();
  cleanups.add(mailbox.close);
  const made = await createAgentRepository();
  cleanups.add(made.remove);
  repository = made.dir;
  productionPorts = await fixedPorts();
  await mkdir(home);
  // As a shell outside of the checkout, whose settings npm would take over.
  env = {
    ...(await fixedPorts()),
    PATH: [join(prefix, 'bin'), join(cacheFolder(), 'bin'), process.env.PATH].join(':'),
    npm_config_prefix: prefix,
    LOG_LEVEL: 'warn',
    CHROMIUM_PATH: await locateRealTool('chromium'),
    WEBHOOK_SECRET: 'a-secret-of-at-least-32-characters',
    SECRET: 'a-secret-of-at-least-32-characters',
    GITHUB_WEBHOOK_SECRET: 'a-secret-of-at-least-32-characters',
  };
});

test.each(RUN_HERE)('the commands of %s run in order', async (page) => {
  const reader = READERS[page] ?? {};
  const folder = reader.folder ?? home;
  await mkdir(folder, { recursive: true });
  const replacements = (await reader.replace?.()) ?? [];
  const lines = blocksOf(page).flatMap(linesOf);
  expect(replacements.filter(([text]) => !lines.some((line) => line.includes(text)))).toEqual([]);
  const hooks = Object.keys(reader.before ?? {});
  expect(hooks.filter((hook) => !lines.some((line) => line.startsWith(hook)))).toEqual([]);
  const exported: Record<string, string> = {};
  for (const block of blocksOf(page)) {
    for (const { text, hook, kind } of stepsOf(block, hooks)) {
      await reader.before?.[hook]?.();
      const own = [...replacements, ...alwaysReplaced()].reduce((line, [from, to]) => line.replaceAll(from, to), text);
      const variables = { ...reader.variables?.(), ...exported };
      if (kind === 'service') await start(own, folder, variables);
      else if (kind === 'export') Object.assign(exported, Object.fromEntries(await exportedBy(own, folder, variables)));
      else await shell(own, folder, variables);
    }
  }
  await reader.after?.();
});

type Step = { text: string; hook: string; kind: 'commands' | 'service' | 'export' };

/** Commands that one shell runs, variables for later steps, or a service. A step begins before a line that begins with a hook. */
function stepsOf(block: string, hooks: readonly string[]): Step[] {
  const steps: Step[] = [];
  for (const text of linesOf(block).filter((line) => RUN_BY_OTHER_TESTS[line] === undefined)) {
    const hook = hooks.find((each) => text.startsWith(each)) ?? '';
    const kind = SERVICE.test(text) ? 'service' : text.startsWith('export ') ? 'export' : 'commands';
    const last = steps.at(-1);
    if (last?.kind !== kind || kind === 'service' || hook !== '') steps.push({ text, hook, kind });
    else last.text += `\n${text}`;
  }
  return steps;
}

async function exportedBy(text: string, cwd: string, variables: Record<string, string>): Promise<[string, string][]> {
  const { stdout } = await shell(`${text}\nenv -0`, cwd, variables);
  const all = new Map(stdout.split('\0').map((line) => line.split(/=(.*)/s, 2) as [string, string]));
  return [...text.matchAll(/[ ]([A-Z_]+)=/g)].map(([, name = '']) => [name, all.get(name) || `${name} is empty`]);
}

/** The site has no name in the DNS, and ports are free ones. */
const alwaysReplaced = (): [RegExp, string][] => [
  [/galley export docs\.example\.com(?!.* --origin )/g, `galley export docs.example.com --origin ${origin}`],
  [/^temporal /gm, `TEMPORAL_ADDRESS=${address('temporal')} temporal `],
];

async function shell(text: string, cwd: string, variables: Record<string, string> = {}): Promise<Finished> {
  const child = spawnShell(text, cwd, variables);
  const finished = await collect(child).finished;
  if (finished.code !== 0)
    throw new Error(`${text}\nexited with ${finished.code}:\n${finished.stdout}${finished.stderr}`);
  return finished;
}

/** Starts a service. `galley up` runs on, in place of the one before; others end once they are ready. */
async function start(text: string, cwd: string, variables: Record<string, string> = {}): Promise<void> {
  const isUp = /\bgalley up\b/.test(text);
  if (isUp) expect((await up?.stop('SIGINT'))?.code ?? 0).toBe(0);
  const service = await untilReady(spawnShell(text, cwd, variables), [text]);
  cleanups.add(() => service.stop('SIGKILL'));
  if (isUp) up = service;
  else services.push(service);
}

const spawnShell = (text: string, cwd: string, variables: Record<string, string>): ChildProcess =>
  spawn('bash', ['-euo', 'pipefail', '-c', text], {
    cwd,
    env: shellEnvironment({ ...env, ...variables }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** After each page: its services end, but not `galley up`. */
const services: RunningGalley[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) expect(await service.stop()).toMatchObject({ code: 0 });
});

/** What `galley up` lists responds, and it warned of nothing. */
async function checkStart(): Promise<void> {
  await waitFor(async () => up?.output().includes(`${address('api')}/webhooks/docs/contentful`) ?? false, {
    describe: 'listed the webhook',
  });
  expect(up?.output()).not.toMatch(/"level":[456]0|Not updated/);
  for (const name of ['api', 'deployment', 'platform', 'ui']) {
    const { headers } = await fetch(address(name));
    expect({ name, type: headers.get('content-type') }).toEqual({ name, type: expect.stringContaining('text/html') });
  }
}

async function servesTheGuide(deployment: string): Promise<void> {
  const page = async (): Promise<string> => await (await fetch(`${deployment}/guide`)).text();
  await waitFor(async () => (await page()).includes('The guide'), { describe: 'served the export' });
}

async function checkExport(): Promise<void> {
  // `sites export` ends when it is served.
  expect(await (await fetch(`${address('deployment')}/guide`)).text()).toContain('The guide');
  const status = await shell('galley sites status docs', home);
  expect(status.stdout).toMatch(/^docs: live\n(?:.*\n)* {2}pages +2\n/);
  const opened = await shell('galley open docs --print', home);
  expect((await fetch(opened.stdout.trim())).status).toBe(200);
  expect((await readdir(home)).sort()).toEqual(['.env', '.galley', 'galley-0.2.0.tgz', 'galley.yaml', 'values']);
}

// biome-ignore lint/suspicious/noExplicitAny: a configuration that a person edits.
async function edit(change: (config: any) => unknown): Promise<void> {
  const file = join(home, 'galley.yaml');
  await writeFile(file, stringify(change(parse(await readFile(file, 'utf8')))));
}

/** The delivery after which the change of the publishes of earlier pages is named, once its reviewer has the mail. */
async function deliveryOfChange(): Promise<string> {
  await waitFor(async () => mailbox.taken.some(({ to }) => to.includes('ada@example.com')), {
    describe: 'mailed the pull request',
    timeoutMs: 300_000,
  });
  const list = `temporal workflow list --query "WorkflowType = 'agentChange'" --output json`;
  const { stdout } = await shell(list, home, { TEMPORAL_ADDRESS: address('temporal') });
  const [, delivery = ''] = /"agent:docs:changelog:([^"]+)"/.exec(stdout) ?? [];
  return delivery;
}
