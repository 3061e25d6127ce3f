import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import type { Browser } from 'playwright-core';
import { z } from 'zod';
import { cacheFolder } from '../../embedded/cache-folder.ts';
import { blockOf } from '../docs/pages.ts';
import { BASELINE_COMMIT } from '../helpers/baseline.ts';
import { launchChromium } from '../helpers/chromium.ts';
import { locateRealTool } from '../helpers/real-tool.ts';
import { docker } from './docker.ts';

const container = z.looseObject({
  Id: z.string(),
  Image: z.string(),
  Config: z.looseObject({ Env: z.array(z.string()), Cmd: z.array(z.string()).nullable() }),
  State: z.looseObject({
    Pid: z.int(),
    ExitCode: z.int(),
    StartedAt: z.string(),
    Health: z.looseObject({ Status: z.string() }).optional(),
  }),
  HostConfig: z.looseObject({ LogConfig: z.looseObject({ Config: z.record(z.string(), z.string()) }) }),
  NetworkSettings: z.looseObject({ Networks: z.record(z.string(), z.looseObject({ IPAddress: z.string() })) }),
});
type Container = z.infer<typeof container>;

/** `npm run setup:containers` builds it. */
const BASELINE_IMAGE = `galley:${BASELINE_COMMIT.slice(0, 8)}`;

/** What docker-compose.yml runs of Galley, and for good. */
export const OWN = ['api', 'worker', 'platform', 'platform-worker', 'agent-worker', 'deployment'];
export const OTHERS = ['postgres', 's3', 'temporal-postgres', 'temporal', 'temporal-ui'];

/** docker-compose.yml as it is, in a folder of its own, with the settings that `init --compose` writes. */
export interface Stack {
  folder: string;
  /** Takes the files and the image of this checkout or of the baseline. */
  checkOut(release: 'head' | 'baseline'): Promise<void>;
  /**
   * Runs a block of commands that stands under a heading of docs/operate/production.md, in the folder. The set-up has
   * fetched and built; `answers` are for `init`, which asks a terminal there.
   */
  runPage(heading: string, index?: number, answers?: string[]): Promise<string>;
  compose(...args: string[]): Promise<string>;
  /** Runs a program in a running service. */
  exec(service: string, ...command: string[]): Promise<string>;
  inspect(service: string): Promise<Container[]>;
  /** In its first network, which this machine reaches. */
  addressOf(service: string): Promise<string>;
  isHealthy(service: string): Promise<boolean>;
  /** Changes the site's page and sends a signed webhook, as a sender does: again until it is accepted. */
  publish(text: string, site?: string): Promise<void>;
  /** Publishes a new text on the page of `docs`. */
  publishNext(): Promise<string>;
  /** Runs `disturb` while a publish arrives every 3 s. Resolves once the newest is served, with the longest waits in seconds. */
  underPublishes(disturb: () => Promise<unknown>): Promise<{ accepted: number; served: number }>;
  /** Resolves once the deployment serves that text, under the site's domain. */
  served(text: string, domain?: string): Promise<void>;
  /** The site's side: its page waits, or doesn't, or how many requests wait. */
  site(what: 'hold' | 'release' | 'waiting'): Promise<string>;
  /** A browser that reaches the services: on this machine, or in the network of the engine of the set-up. */
  openBrowser(): Promise<Browser>;
  remove(): Promise<void>;
}

export async function makeStack(folder: string): Promise<Stack> {
  const name = `galley-test-${process.pid}`;
  await cp('test/containers/outside.js', join(folder, 'outside.js'));
  await cp('test/containers/parts.yml', join(folder, 'parts.yml'));
  await writeFile(
    join(folder, 'baseline.yml'),
    `services: {${OWN.map((service) => `${service}: {image: "${BASELINE_IMAGE}"}`).join(', ')}}\n`,
  );
  const env = { API_PORT: '3000-3001', COMPOSE_FILE: '', COMPOSE_PROJECT_NAME: name };
  const checkOut: Stack['checkOut'] = async (release) => {
    env.COMPOSE_FILE = `docker-compose.yml:parts.yml${release === 'head' ? '' : ':baseline.yml'}`;
    const files = ['docker-compose.yml', 'deploy'];
    for (const file of files) await rm(join(folder, file), { recursive: true, force: true });
    if (release === 'head') for (const file of files) await cp(file, join(folder, file), { recursive: true });
    else await execa({ shell: true })`git archive ${BASELINE_COMMIT} ${files} | tar -x -C ${folder}`;
  };
  await checkOut('head');
  // The engine's own address, the first of its network, stands for a name that other machines know.
  const subnet = await docker(['network', 'inspect', 'bridge', '--format', '{{(index .IPAM.Config 0).Subnet}}']);
  const gateway = subnet.replace(/\.0\/\d+$/, '.1');
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
  const inspect: Stack['inspect'] = async (service) => {
    const ids = (await compose('ps', '--all', '--quiet', service)).split('\n').filter(Boolean);
    return z.array(container).parse(JSON.parse(await docker(['inspect', ...ids])));
  };
  const publish: Stack['publish'] = async (text, site = 'docs') => {
    await put('/', text);
    const send = `set -a; . /settings/sites.env; galley webhook send ${site} contentful --url http://api:3000`;
    await until(async () => (await exec('outside', 'sh', '-c', send).catch(() => '')).includes('202'));
  };
  const page = async (domain: string): Promise<string> => {
    const script = `require('node:http').get('http://deployment:3200/', { headers: { host: '${domain}' } }, (response) => response.pipe(process.stdout)).on('error', () => {})`;
    return await ask(script);
  };
  const served: Stack['served'] = (text, domain = 'docs.example.com') =>
    until(async () => (await page(domain)).includes(`<h1>${text}</h1>`));
  let published = 0;
  const publishNext = async (): Promise<string> => {
    published += 1;
    const text = `version ${published}`;
    await publish(text);
    return text;
  };
  return {
    folder,
    checkOut,
    runPage: async (heading, index = 0, answers = []) => {
      const options = [
        '--yes',
        '--skip-checks',
        '--origin',
        'http://outside:8080',
        '--public-host',
        gateway,
        ...answers,
      ];
      const script = blockOf(`docs/operate/production.md#${heading}`, index)
        .replaceAll(/^(git pull|docker build .*)$/gm, '')
        .replace('--interactive --tty --network host', '--network none')
        .replace('init --compose', `init --compose ${options.join(' ')}`);
      return (await execa('bash', ['-euo', 'pipefail', '-c', script], { env, cwd: folder })).stdout;
    },
    compose,
    exec,
    inspect,
    addressOf: async (service) => {
      const [{ NetworkSettings } = { NetworkSettings: { Networks: {} } }] = await inspect(service);
      return Object.values(NetworkSettings.Networks)[0]?.IPAddress ?? '';
    },
    isHealthy: async (service) => {
      const states = (await inspect(service)).map(({ State }) => State.Health?.Status);
      return states.length > 0 && states.every((state) => state === 'healthy');
    },
    publish,
    publishNext,
    underPublishes: async (disturb) => {
      const longest = { accepted: 0, served: 0 };
      let isOver = false;
      const publishing = (async () => {
        let newest = '';
        do {
          const from = performance.now();
          newest = await publishNext();
          longest.accepted = Math.max(longest.accepted, (performance.now() - from) / 1_000);
          await delay(3_000);
        } while (!isOver);
        return newest;
      })();
      const watching = (async () => {
        let [shown, since] = ['', performance.now()];
        while (!isOver) {
          const [, now = ''] = /<h1>(.*?)<\/h1>/.exec(await page('docs.example.com').catch(() => '')) ?? [];
          if (now === shown || now === '') await delay(500);
          else [shown, since] = [now, performance.now()];
          longest.served = Math.max(longest.served, (performance.now() - since) / 1_000);
        }
      })();
      try {
        await disturb();
      } finally {
        isOver = true;
      }
      await watching;
      await served(await publishing);
      return longest;
    },
    served,
    site: async (what) =>
      what === 'waiting'
        ? await ask("fetch('http://127.0.0.1:8080/waiting').then((r) => r.text()).then(console.log)")
        : await put(`/${what}`, ''),
    openBrowser: async () => {
      const executable = await locateRealTool('chromium');
      if (process.env.GALLEY_TEST_ENGINE !== 'own') return await launchChromium();
      const engine = (await readFile(join(cacheFolder(), 'containers', 'pid'), 'utf8')).trim();
      const inside = join(folder, 'chromium');
      await writeFile(inside, `#!/bin/sh\nexec nsenter --target ${engine} --net ${executable} "$@"\n`, { mode: 0o755 });
      return await launchChromium(inside);
    },
    remove: async () => {
      await compose('--profile', '*', 'down', '--volumes', '--remove-orphans', '--timeout', '5');
    },
  };
}

/** Asks again until it is so; jest's limit ends a test that hangs. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(500);
}
