import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { FREE_PORTS } from '../helpers/free-port.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';
import { shellEnvironment } from '../helpers/shell-environment.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();

/** Node keeps the first ones from children by itself. */
const DESCRIPTORS = [9, 17, 63, 200];

/** Writes down its command and its descriptors, and writes to those that it shouldn't have. */
const SPY = `#!/bin/sh
cd "$(dirname "$0")/.."
for fd in /proc/self/fd/*; do target=$(readlink "$fd") && echo "$(basename "$0") $1 \${fd##*/} $target" >> given; done
for fd in ${DESCRIPTORS.join(' ')}; do echo planted > /proc/self/fd/$fd; done 2> errors
if [ "$1" = --version ]; then echo 'temporal version 1.5.1'; else exit 1; fi`;

/** Runs galley as a shell that left a file open. Resolves with a line for each descriptor of the programs that it ran. */
async function runWithOpenFile(args: readonly string[], bin = folder) {
  const left = join(folder, 'left-open');
  await writeFile(left, '{"left": "open"}');
  const file = await open(left, 'a+');
  const planted = Array.from({ length: 201 }, (_, index) => (DESCRIPTORS.includes(index) ? file.fd : 'ignore'));
  const child = spawn(process.execPath, [await builtGalley(), ...args], {
    cwd: folder,
    env: shellEnvironment({ ...FREE_PORTS, GALLEY_HOME: join(folder, 'state'), PATH: `${bin}:${process.env.PATH}` }),
    stdio: ['ignore', 'ignore', 'ignore', ...planted.slice(3)],
  });
  await once(child, 'exit');
  await file.close();
  expect(await readFile(left, 'utf8')).toBe('{"left": "open"}');
  return await readFile(join(folder, 'given'), 'utf8').catch(() => '');
}

let site: HttpSite;
const posted: string[] = [];
beforeAll(async () => {
  site = await startHttpSite(async (request, response) => {
    posted.push(await text(request));
    response.end('{}');
  });
});
afterAll(() => site.close());

async function configure(): Promise<void> {
  const helm = { release: 'docs', namespace: 'web', chart: 'oci://charts.test/docs' };
  const git = { repository: 'https://127.0.0.1:1/docs', branch: 'main', path: 'values.yaml' };
  const docs = {
    domain: 'docs.example.com',
    origin: site.origin,
    webhooks: { token: { secret: 'sesame' } },
    export: { deployments: [{ git }, { name: 'helm', helm }] },
  };
  await writeFile(join(folder, 'galley.yaml'), JSON.stringify({ sites: { docs } }));
}

test.each([
  ['git and helm', ['doctor'], ['git', 'helm']],
  ['a Temporal server', ['up'], ['temporal --version', 'temporal server']],
])('%s: get no file that was open when galley started', async (_, args, programs) => {
  await configure();
  const bin = join(folder, 'bin');
  await mkdir(bin);
  for (const name of ['git', 'helm', 'temporal']) await writeFile(join(bin, name), SPY, { mode: 0o755 });
  const given = await runWithOpenFile(args, bin);
  for (const program of programs) {
    expect(given).toMatch(new RegExp(`^${program} .*\\b0 /dev/null$`, 'm'));
    expect(given).not.toMatch(new RegExp(`^${program} .*\\b([3-9]|\\d\\d+) `, 'm'));
  }
});

test('a file is read if the command line names its descriptor', async () => {
  await configure();
  await runWithOpenFile(['webhook', 'send', 'docs', 'token', '--body', '/dev/fd/200', '--url', site.origin]);
  expect(posted).toContain('{"left": "open"}');
});
