import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import { z } from 'zod';
import { docker } from './docker.ts';

const container = z.looseObject({
  Id: z.string(),
  State: z.looseObject({
    Pid: z.int(),
    ExitCode: z.int(),
    StartedAt: z.string(),
    Health: z.looseObject({ Status: z.string() }).optional(),
  }),
  NetworkSettings: z.looseObject({ Networks: z.record(z.string(), z.looseObject({ IPAddress: z.string() })) }),
});
type Container = z.infer<typeof container>;

/** docker-compose.yml as it is, in a folder of its own, with the settings that `init --compose` writes. */
export interface Stack {
  /** Writes the settings of a site, as the documents say. */
  init(...answers: string[]): Promise<unknown>;
  compose(...args: string[]): Promise<string>;
  /** Runs a program in a running service. */
  exec(service: string, ...command: string[]): Promise<string>;
  inspect(service: string): Promise<Container[]>;
  /** Changes the site's page and sends a signed webhook, as a sender does: again until it is accepted. */
  publish(text: string, site?: string): Promise<void>;
  /** Resolves once the deployment serves that text, under the site's domain. */
  served(text: string, domain?: string): Promise<void>;
  /** The site's side: its page waits, or doesn't, or how many requests wait. */
  site(what: 'hold' | 'release' | 'waiting'): Promise<string>;
  remove(): Promise<void>;
}

export async function makeStack(folder: string): Promise<Stack> {
  const name = `galley-test-${process.pid}`;
  for (const file of ['docker-compose.yml', 'deploy']) await cp(file, join(folder, file), { recursive: true });
  await mkdir(join(folder, 'outside'));
  await cp('test/containers/outside.js', join(folder, 'outside', 'outside.js'));
  await cp('test/containers/parts.yml', join(folder, 'parts.yml'));
  const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const run = [
    'run',
    '--rm',
    '--user',
    user,
    '--volume',
    `${folder}:/settings`,
    '--workdir',
    '/settings',
    'galley:local',
  ];
  // The engine's own address stands for a name that other machines know.
  const gateway = await docker(['network', 'inspect', 'bridge', '--format', '{{(index .IPAM.Config 0).Gateway}}']);
  const init = (...answers: string[]) =>
    docker([...run, 'init', '--compose', '--yes', '--skip-checks', '--origin', 'http://outside:8080', ...answers]);
  await init('--domain', 'docs.example.com', '--public-host', gateway);

  const env = { API_PORT: '3000-3001', COMPOSE_FILE: 'docker-compose.yml:parts.yml', COMPOSE_PROJECT_NAME: name };
  const plugin = (await execa('docker', ['compose', 'version'], { reject: false })).exitCode === 0;
  const compose = async (...args: string[]): Promise<string> => {
    const program = plugin ? (['docker', ['compose']] as const) : (['docker-compose', []] as const);
    const { stdout } = await execa(program[0], [...program[1], ...args], { env, cwd: folder });
    return stdout;
  };
  const exec = (service: string, ...command: string[]) => compose('exec', '-T', service, ...command);
  const ask = (script: string) => exec('outside', 'node', '-e', script);
  const put = (path: string, body: string) =>
    ask(`fetch('http://127.0.0.1:8080${path}', { method: 'PUT', body: ${JSON.stringify(body)} })`);
  return {
    init,
    compose,
    exec,
    inspect: async (service) => {
      const ids = (await compose('ps', '--all', '--quiet', service)).split('\n').filter(Boolean);
      return z.array(container).parse(JSON.parse(await docker(['inspect', ...ids])));
    },
    publish: async (text, site = 'docs') => {
      await put('/', text);
      const send = ['galley', 'webhook', 'send', site, 'contentful', '--url', 'http://api:3000'];
      await until(async () => (await exec('outside', ...send).catch(() => '')).includes('202'));
    },
    served: async (text, domain = 'docs.example.com') => {
      const script = `require('node:http').get('http://deployment:3200/', { headers: { host: '${domain}' } }, (response) => response.pipe(process.stdout)).on('error', () => {})`;
      await until(async () => (await ask(script)).includes(`<h1>${text}</h1>`));
    },
    site: async (what) =>
      what === 'waiting'
        ? await ask("fetch('http://127.0.0.1:8080/waiting').then((r) => r.text()).then(console.log)")
        : await put(`/${what}`, ''),
    remove: async () => {
      await compose('--profile', '*', 'down', '--volumes', '--remove-orphans', '--timeout', '5');
    },
  };
}

/** Asks again until it is so; jest's limit ends a test that hangs. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(500);
}
