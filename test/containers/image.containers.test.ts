import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { docker, inImage } from './docker.ts';

const { dependencies } = z
  .looseObject({ dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

/** Styles and scripts for browsers, and a package that is only imported by its parts. */
const NOT_LOADED = ['@exodus/bytes', 'htmx.org'];

test('/app has at most 200 MB, and neither npm nor a compiler is in the image', async () => {
  expect(Number.parseInt(await inImage('du -sm /app'), 10)).toBeLessThanOrEqual(200);
  expect(await inImage('for each in npm npx cc gcc make python3; do command -v $each; done; true')).toBe('');
  expect(await inImage("find / -name package.json -path '*/npm/*' -not -path '/proc/*' 2>/dev/null; true")).toBe('');
});

test('it runs as a user, who owns only /data and the folder of values files', async () => {
  expect(await inImage('id -u')).toBe('1000');
  const owned = await inImage('find / -xdev -user 1000 -not -path "/home/*" -not -path "/proc/*" 2>/dev/null; true');
  expect(owned.split('\n').sort()).toEqual(['/data', '/etc/galley/values']);
});

test('every dependency loads in it', async () => {
  const names = Object.keys(dependencies).filter((name) => !NOT_LOADED.includes(name));
  expect(names.length).toBeGreaterThan(50);
  const script = `const failed = [];
    for (const name of ${JSON.stringify(names)}) await import(name).catch((error) => failed.push(name + ': ' + error.message));
    console.log(JSON.stringify(failed)); process.exit(0)`;
  const printed = await docker([
    'run',
    '--rm',
    '--entrypoint',
    'node',
    'galley:local',
    '--input-type=module',
    '--eval',
    script,
  ]);
  expect(JSON.parse(printed)).toEqual([]);
});

test('each command explains itself in it, and each process starts as far as its settings let it', async () => {
  const help = await docker(['run', '--rm', 'galley:local', '--help']);
  const commands = [...help.matchAll(/^ {2}([a-z][a-z-]+)/gm)].map(([, command = '']) => command);
  expect(commands.length).toBeGreaterThan(20);
  const processes = ['api', 'worker', 'platform', 'platform-worker', 'agent-worker', 'deployment'];
  const script = `
    for each in ${commands.filter((command) => command !== 'help').join(' ')}; do
      galley $each --help >/tmp/out 2>&1 || echo "$each --help: $(cat /tmp/out)"
    done
    for each in ${processes.join(' ')}; do
      galley $each >/tmp/out 2>&1; [ $? = 2 ] || echo "$each: $(cat /tmp/out)"
    done`;
  expect(await inImage(script)).toBe('');
});

test('labels say what it is, and its contents are listed', async () => {
  const labels = JSON.parse(await docker(['image', 'inspect', 'galley:local', '--format', '{{json .Config.Labels}}']));
  expect(labels).toMatchObject({
    'org.opencontainers.image.title': 'galley',
    'org.opencontainers.image.licenses': 'MIT',
    'org.opencontainers.image.version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
  });
  const { packages } = z
    .looseObject({
      packages: z.array(z.looseObject({ SPDXID: z.string(), name: z.string(), versionInfo: z.string() })),
    })
    .parse(JSON.parse(await inImage('cat /app/sbom.spdx.json')));
  // Each folder in a node_modules, as Node finds packages.
  const script = `const { readdirSync, readFileSync } = require('node:fs');
    const found = new Set();
    for (const path of readdirSync('/app', { recursive: true })) {
      if (path !== 'package.json' && !/(^|\\/)node_modules\\/(@[^/]+\\/)?[^/]+\\/package.json$/.test(path)) continue;
      const { name, version } = JSON.parse(readFileSync('/app/' + path, 'utf8'));
      found.add(name + '@' + version);
    }
    console.log(JSON.stringify([...found].sort()))`;
  const found = JSON.parse(await docker(['run', '--rm', '--entrypoint', 'node', 'galley:local', '--eval', script]));
  const listed = (isOne: (id: string) => boolean) => {
    const chosen = packages.filter(({ SPDXID }) => isOne(SPDXID));
    // A version that stands in several folders is listed for each.
    return [...new Set(chosen.map(({ name, versionInfo }) => `${name}@${versionInfo}`))].sort();
  };
  const isDebian = (id: string) => id.startsWith('SPDXRef-Debian-');
  expect(listed((id) => !isDebian(id))).toEqual(found);
  const installed = (await inImage('dpkg-query --show')).split('\n').map((line) => line.replace(/(:\w+)?\t/, '@'));
  expect(listed(isDebian)).toEqual([...new Set(installed)].sort());
  expect(installed.length).toBeGreaterThan(50);
});
