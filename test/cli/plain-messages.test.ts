import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgram } from '../../cli/program.ts';
import { type Finished, galley, galleyHere, spawnService } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();

const DEAD = 'http://127.0.0.1:1';

/** They end only at a signal. */
const SERVICES = ['api', 'worker', 'platform', 'platform-worker', 'agent-worker', 'migrate'];
/** They start servers, or answer a shell. */
const LEFT_OUT = ['up', 'deployment', 'demo', 'complete', 'completion'];

/** What a person can't act on: a request, a code of the system, a path in a library, a file that is only written to. */
const OF_THE_LAYER_BELOW = /was answered|\bE[A-Z]{4,}\b|::|\.(?:tmp|part)\b|\n\s+at /;
/** A command, an option, a variable, a URL or a path. */
const NEXT_STEP = /galley [a-z]|--[a-z]|\b[A-Z]+_[A-Z_]+\b|https?:\/\/|\/\w+/;

function leaves(command: Command, path: readonly string[] = []): [path: readonly string[], command: Command][] {
  if (command.commands.length === 0) return [[path, command]];
  return command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
}

const COMMANDS = leaves(await createProgram()).filter(([path]) => ![...SERVICES, ...LEFT_OUT].includes(path.join(' ')));

/** An argument that names nothing: a path of that kind, a name otherwise. */
function argument(name: string, path: string): string {
  if (/file|folder|out|values/i.test(name)) return path;
  if (/domain/.test(name)) return '127.0.0.1.example';
  return /plan/.test(name) ? 'free' : 'nosuch';
}

function commandLine([path, command]: (typeof COMMANDS)[number], { file, origin = DEAD }: Places): string[] {
  const given = command.registeredArguments.map((each) => argument(each.name(), file));
  const required = command.options.filter((each) => each.mandatory);
  const options = required.flatMap(({ long }) => [long ?? '', argument(long ?? '', file)]);
  const quick: Record<string, string[]> = {
    init: ['--yes', '--domain', '127.0.0.1.example', '--origin', origin],
    export: ['--origin', origin],
    agents: ['--project', 'prj_nosuch'],
  };
  const more = path.join(' ') === 'agents remove' ? [] : (quick[path[0] ?? ''] ?? []);
  return [...path, ...given, ...options, ...more];
}

type Variables = Record<string, string>;

/** A path for each argument that is one, and the origin of what is exported. */
type Places = { file: string; origin?: string };

/** They wait for a database, so they run beside each other. */
const OF_THE_DATABASE = ['keys', 'organizations', 'members', 'projects', 'gc'];

/** Runs every command, and returns those whose failure is not for people, and what none of them said. */
async function unclear(variables: Variables, places: Places, said: RegExp[] = []): Promise<unknown[]> {
  const environment = { LOG_LEVEL: 'error', ...variables };
  const found: unknown[] = [];
  const unsaid = new Set(said);
  const check = (args: string[], { code, stdout, stderr }: Finished): void => {
    const text = `${stdout}${stderr}`;
    for (const each of unsaid) if (each.test(text)) unsaid.delete(each);
    if (OF_THE_LAYER_BELOW.test(text) || (code !== 0 && !NEXT_STEP.test(text))) found.push([args.join(' '), text]);
  };
  const waits = (args: string[]): boolean => args.some((each) => OF_THE_DATABASE.includes(each));
  const all = COMMANDS.map((each) => commandLine(each, places));
  for (const args of all.filter((each) => !waits(each))) check(args, await galleyHere(args, environment, folder));
  // Without a database of its own, each would start the embedded one.
  if (variables.DATABASE_URL === undefined) return [...found, ...unsaid];
  await Promise.all(all.filter(waits).map(async (args) => check(args, await galley(args, environment, folder))));
  return [...found, ...unsaid];
}

/**
 * A disk without room for another file, in a mount namespace of its own. It needs no root where users may make namespaces,
 * as the tests of the sandbox do.
 */
async function startFullDisk(): Promise<{ path: string; end: () => void }> {
  const script = 'mount -t tmpfs -o nr_inodes=1 tmpfs /mnt && echo full && exec cat';
  const child = spawn('unshare', ['--map-root-user', '--mount', 'sh', '-c', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`no disk could be mounted: unshare exited with ${code}`);
  });
  await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => {});
  return { path: `/proc/${child.pid}/root/mnt`, end: () => child.stdin.end() };
}

describe('every command names the thing, its place and the next step', () => {
  test.each([
    ['an unknown name', 404],
    ['a state that is in the way', 409],
    ['a service without its own servers', 503],
  ])('of %s', async (_what, status) => {
    const services = await startHttpSite(({ url, method }, response) => {
      // Nothing is in the way of a list.
      const isList = status === 409 && method === 'GET' && url?.startsWith('/sites?');
      response.writeHead(isList ? 200 : status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isList ? { sites: [] } : { error: 'not possible' }));
    });
    const own = { GALLEY_HOME: folder };
    const api = { OPERATOR_TOKEN: 'token', PORT: String(services.port) };
    const adminApi = { ADMIN_API_URL: services.origin, ADMIN_API_KEY: 'key' };
    expect(await unclear({ ...own, ...api, ...adminApi }, { file: join(folder, 'nothing') })).toEqual([]);
    await services.close();
  });

  const nothingRuns = { OPERATOR_TOKEN: 'token', PORT: '1' };
  const dead = {
    ...{ ADMIN_API_URL: DEAD, ADMIN_API_KEY: 'key', TEMPORAL_ADDRESS: '127.0.0.1:1' },
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
  };
  test.each<[what: string, file: string, variables: Variables]>([
    ['a missing folder', '/nowhere/a/b', { GALLEY_HOME: '/dev/null/home', GALLEY_CONFIG: '/nowhere/galley.yaml' }],
    [
      'a read-only folder',
      '/sys/galley-a',
      { GALLEY_HOME: '/sys/galley-home', OBJECT_STORE_URL: 'file:///sys/galley-b' },
    ],
    ['a folder in which nothing can be made', '/proc/galley-a', { GALLEY_HOME: '/proc/galley-home' }],
    ['a dead Temporal, database and Admin API', '/nowhere/a', { GALLEY_HOME: '/dev/null/home', ...dead }],
  ])('of %s', async (_, file, variables) => {
    expect(await unclear({ ...nothingRuns, ...variables }, { file })).toEqual([]);
  });

  test('of a full disk', async () => {
    const origin = await startHttpSite((_, response) => response.end('<title>A page</title>'));
    const disk = await startFullDisk();
    try {
      const variables = { ...nothingRuns, GALLEY_HOME: join(disk.path, 'home') };
      const places = { file: join(disk.path, 'a'), origin: origin.origin };
      const said = [/^galley: .*bundles: the disk is full/m, /galley-home: .*the disk is full/];
      expect(await unclear(variables, places, said)).toEqual([]);
    } finally {
      disk.end();
      await origin.close();
    }
  });

  test.each(SERVICES)('of what galley %s waits for', async (name) => {
    const variables = { ...nothingRuns, ...dead, GALLEY_HOME: folder, PLATFORM_PORT: '0', LOG_LEVEL: 'warn' };
    const args = name === 'api' || name === 'worker' ? [name, '--no-config'] : [name];
    const { process: child, ready, output } = await spawnService(args, { ...variables, PORT: '0' }, folder);
    ready.catch(() => {});
    // `api` is ready without Temporal: it answers 503 until it is there.
    const said = [child.stdout, child.stderr].flatMap((stream) => (stream === null ? [] : [once(stream, 'data')]));
    await Promise.race([...said, once(child, 'close')]);
    child.kill('SIGKILL');
    expect(output()).not.toMatch(OF_THE_LAYER_BELOW);
    expect(output()).toMatch(/Temporal|database|^ready/);
  });
});
