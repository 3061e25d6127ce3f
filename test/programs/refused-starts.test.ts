import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { readSettings } from '../../programs/settings/environment.ts';
import { checkPorts } from '../../programs/up/prepare.ts';
import { FREE_PORTS } from '../helpers/free-port.ts';
import { galley, galleyHere } from '../helpers/galley.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();

const ADMIN_API = { ADMIN_API_URL: 'http://127.0.0.1:1', ADMIN_API_KEY: 'galley_key' };
const DATABASE = { DATABASE_URL: 'postgres://127.0.0.1:1/x' };
const S3 = { OBJECT_STORE_URL: 's3://bucket?region=eu-west-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
const WRONG_DURATION = { sites: { docs: { domain: 'docs.example.com', export: { quietPeriod: 'soon' } } } };
const WRONG_REVIEWS = {
  smtp: { url: 'smtp://127.0.0.1:1', from: 'nobody' },
  forge: { kind: 'gitea' },
  sites: { docs: { domain: 'docs.example.com', agent: [{ name: 'notes', on: 'publish', prompt: 'Do' }] } },
};
const followingUp = { name: 'notes', on: 'publish', prompt: 'Do', followUps: { max: 3 } };
const NO_FORGE = { sites: { docs: { domain: 'docs.example.com', projectId: 'prj_docs', agent: [followingUp] } } };
const REVIEW_KEYS = ['smtp.from', 'forge.url', 'forge.token', 'sites.docs.projectId'];

describe('a program with an invalid configuration exits with 2 and names each mistake', () => {
  test.each([
    { command: 'api', config: WRONG_DURATION, variables: ADMIN_API, names: ['sites.docs.export.quietPeriod'] },
    { command: 'up', config: WRONG_DURATION, variables: {}, names: ['sites.docs.export.quietPeriod'] },
    { command: 'worker', config: WRONG_REVIEWS, variables: ADMIN_API, names: REVIEW_KEYS },
    { command: 'config check', config: WRONG_REVIEWS, variables: ADMIN_API, names: REVIEW_KEYS },
    { command: 'config check', config: NO_FORGE, variables: ADMIN_API, names: ['sites.docs.agent.0.followUps'] },
    { command: 'config check', config: {}, variables: { ...ADMIN_API, PORT: 'http' }, names: ['PORT'] },
    { command: 'up', config: {}, variables: { AGENT_COMMAND: "coder 'open" }, names: ['AGENT_COMMAND'] },
    {
      command: 'platform-worker',
      config: {},
      variables: { ...DATABASE, AGENT_COMMAND: "coder 'open" },
      names: ['AGENT_COMMAND'],
    },
    { command: 'up', config: {}, variables: { ADMIN_API_URL: 'http://127.0.0.1:1' }, names: ['adminApi.key'] },
    { command: 'platform', config: {}, variables: {}, names: ['DATABASE_URL'] },
    { command: 'platform-worker', config: {}, variables: {}, names: ['DATABASE_URL'] },
    { command: 'agent-worker', config: {}, variables: {}, names: ['DATABASE_URL'] },
    { command: 'migrate', config: {}, variables: {}, names: ['DATABASE_URL'] },
    {
      command: 'agent-worker',
      config: {},
      variables: { ...DATABASE, AGENT_NETWORK_ALLOW: 'example.com' },
      names: ['AGENT_NETWORK_ALLOW'],
    },
    {
      command: 'platform',
      config: {},
      variables: { ...DATABASE, ...S3, BUNDLE_LINK_TTL: '8d' },
      names: ['BUNDLE_LINK_TTL'],
    },
  ])('galley $command: $names', async ({ command, config, variables, names }) => {
    await writeFile(join(folder, 'galley.yaml'), JSON.stringify({ sites: {}, ...config }));
    // A worker's modules load the Temporal SDK, which needs a process of its own.
    const run = command === 'platform-worker' ? galley : galleyHere;
    const { code, stderr } = await run(command.split(' '), { ...variables, GALLEY_HOME: join(folder, 's') }, folder);
    expect(
      [...stderr.matchAll(/^(?:galley: | +)([\w.]+):? .*(?:expected|too long)/gm)].map(([, name]) => name),
    ).toEqual(names);
    expect(stderr).not.toMatch(/^ {4}at /m);
    expect(code).toBe(2);
  });
});

describe('a GALLEY_HOME that is not a folder', () => {
  test.each([
    ['a file', () => join(folder, 'a-file'), 'it exists already'],
    ['below a file', () => join(folder, 'a-file', 'state'), 'it exists already'],
    ['below /proc', () => '/proc/galley', 'it does not exist'],
  ])('%s makes galley up exit with 2 and one sentence', async (_where, path, reason) => {
    await writeFile(join(folder, 'a-file'), '');
    const home = path();
    const { code, stderr } = await galleyHere(['up'], { GALLEY_HOME: home }, folder);
    const sentence = `GALLEY_HOME: expected a folder that can be created and written at ${home} (${reason})`;
    expect({ code, stderr: stderr.trim() }).toEqual({ code: 2, stderr: `galley: ${sentence}` });
  });
});

describe('a GALLEY_HOME of another build', () => {
  test.each([
    ['with its Temporal file', { 'temporal.db': 'rows' }],
    ['with its database', { 'database/PG_VERSION': '17' }],
    ['with another baseline', { baseline: 'baseline-2020-01', 'temporal.db': 'rows' }],
  ])('%s makes galley up exit with 2 and one sentence, and stays as it is', async (_what, files) => {
    const home = join(folder, 'home');
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(home, name)), { recursive: true });
      await writeFile(join(home, name), text);
    }
    const { code, stderr } = await galleyHere(['up'], { GALLEY_HOME: home }, folder);
    const sentence =
      `GALLEY_HOME: expected an empty folder or the state of this build, but ${home} has that of another build of Galley: ` +
      'move it away or name another folder; nothing was changed';
    expect({ code, stderr: stderr.trim() }).toEqual({ code: 2, stderr: `galley: ${sentence}` });
    const found = (await readdir(home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(found.map(({ parentPath, name }) => relative(home, join(parentPath, name))).sort()).toEqual(
      Object.keys(files).sort(),
    );
  });
});

describe('a program that serves sites', () => {
  test.each(['api', 'worker'])('galley %s ends with 2 without a galley.yaml, and names the path', async (command) => {
    const { code, stderr } = await galleyHere([command], ADMIN_API, folder);
    const path = join(folder, 'galley.yaml');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `galley: GALLEY_CONFIG: expected a configuration file, but there is none at ${path}; --no-config runs without sites\n`,
    });
  });
});

describe('galley up on a port in use', () => {
  let taken: Server;
  let port: number;

  beforeEach(async () => {
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const bound = taken.address();
    port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  });

  afterEach(() => {
    taken.close();
  });

  const sentence = (variable: string): string =>
    `Port ${port} on 127.0.0.1 is in use: stop what listens there, or set ${variable} to another port (0: a free one).`;

  test.each(['PORT', 'PLATFORM_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'DEPLOYMENT_PORT'])(
    'says that %s names it',
    async (variable) => {
      const settings = readSettings({ ...FREE_PORTS, [variable]: String(port) });
      const { deploymentPort, serving } = settings;
      const deployment = { valuesFile: 'values.yaml', host: '127.0.0.1', port: deploymentPort, serving, home: 'x' };
      await expect(checkPorts(settings, [deployment])).rejects.toThrow(sentence(variable));
    },
  );

  test('ends with 1 and that one sentence', async () => {
    const { code, stderr } = await galleyHere(['up'], { PORT: String(port), GALLEY_HOME: join(folder, 's') }, folder);
    expect(stderr.split('\n').filter((line) => line.startsWith('galley:'))).toEqual([`galley: ${sentence('PORT')}`]);
    expect(code).toBe(1);
  });
});
