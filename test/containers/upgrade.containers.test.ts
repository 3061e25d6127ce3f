import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { makeStack, OWN, type Stack, until } from './stack.ts';

const SITE = ['--domain', 'docs.example.com', '--site', 'docs'];

let stack: Stack;
// Before the folder is removed, which it needs.
afterAll(() => stack?.remove());
const folder = temporaryFolder();
beforeAll(async () => {
  stack = await makeStack(folder);
  await stack.checkOut('baseline');
});

const password = () => randomBytes(24).toString('hex');
const env = ['TEMPORAL_POSTGRES_PASSWORD', 'POSTGRES_PASSWORD', 'S3_ACCESS_KEY', 'S3_SECRET_KEY', 'OPERATOR_TOKEN']
  .map((name) => `${name}=${password()}\n`)
  .join('');
const sitesEnv = `ADMIN_API_URL=http://platform:3100\nCONTENTFUL_SECRET=${password()}\n`;
const config = `sites:
  docs:
    domain: docs.example.com
    webhooks: {contentful: {secret: "\${CONTENTFUL_SECRET}"}}
    export: {deployments: [{valuesFile: values/handbook.yaml}]}
`;

/** What the earlier release's page had people write by hand. */
async function write(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

/** The images that Galley's services run. */
const images = async () => new Set((await Promise.all(OWN.map(stack.inspect))).flat().map(({ Image }) => Image));

const longest = ({ accepted, served }: { accepted: number; served: number }) =>
  `a publish was accepted after at most ${accepted.toFixed(1)} s, and a page stayed for at most ${served.toFixed(1)} s`;

/** With that release, `--wait` fails at the containers that end at once. */
async function start(): Promise<void> {
  await stack.compose('up', '--detach', '--remove-orphans');
  for (const service of OWN) await until(() => stack.isHealthy(service));
}

test('the earlier release publishes', async () => {
  await write({ '.env': env, 'sites.env': sitesEnv, 'agent.env': '', 'galley.yaml': config });
  // `api` and `worker` restart until they have a key.
  await stack.compose('up', '--detach');
  await until(() => stack.isHealthy('platform'));
  const admin = (...args: string[]) => stack.exec('platform', 'galley', ...args);
  const [key = ''] =
    /galley_[\w-]+/.exec(await admin('keys', 'create', '--organization', 'acme', '--plan', 'enterprise')) ?? [];
  const project = ['--project', 'prj_docs', '--domain', 'docs.example.com'];
  await admin('projects', 'add', '--organization', 'acme', ...project, '--origin', 'http://outside:8080');
  await write({ 'sites.env': `${sitesEnv}ADMIN_API_KEY=${key}\n` });
  await start();
  await stack.served(await stack.publishNext());
});

test('a migration that fails leaves it running', async () => {
  await stack.checkOut('head');
  const sql = (text: string) => stack.exec('postgres', 'psql', '--username', 'galley', '--command', text);
  await sql('create table export_previews (mine int)');
  await expect(stack.runPage('Upgrade the containers', 0, SITE)).rejects.toThrow(/export_previews/);
  await stack.served(await stack.publishNext());
  await sql('drop table export_previews');
});

test('it is upgraded under publishes', async () => {
  const before = await images();
  const waits = await stack.underPublishes(() => stack.runPage('Upgrade the containers', 0, SITE));
  console.info(`Upgrade: ${longest(waits)}`);
  const after = await images();
  expect([before.size, after.size, new Set([...before, ...after]).size]).toEqual([1, 1, 2]);
  expect(await stack.exec('api', 'galley', 'sites', 'status')).toContain('docs');
});

test('the way back is open, under publishes', async () => {
  await stack.checkOut('baseline');
  const waits = await stack.underPublishes(start);
  console.info(`Way back: ${longest(waits)}`);
  expect(await stack.exec('api', 'galley', 'sites', 'status')).toContain('docs');
});

test('with Worker Versioning, the new release goes on once the work is routed to it', async () => {
  const setBuild = async (id: string): Promise<void> => {
    for (const name of ['sites.env', 'agent.env']) {
      const text = (await readFile(join(folder, name), 'utf8')).replaceAll(/^WORKER_.*\n/gm, '');
      await write({ [name]: `${text}WORKER_DEPLOYMENT=galley\nWORKER_BUILD_ID=${id}\n` });
    }
  };
  const temporal = ['run', '--rm', '--no-deps', '--entrypoint', 'temporal', 'temporal-namespace'];
  const routeTo = (id: string) =>
    stack.compose(
      ...[...temporal, 'worker', 'deployment', 'set-current-version', '--deployment-name', 'galley'],
      ...['--build-id', id, '--yes'],
    );
  await setBuild('earlier');
  await start();
  await routeTo('earlier');
  await stack.served(await stack.publishNext());
  await stack.checkOut('head');
  await setBuild('new');
  await stack.runPage('Upgrade the containers', 0, SITE);
  const text = await stack.publishNext();
  await routeTo('new');
  await stack.served(text);
});
