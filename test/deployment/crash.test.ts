import { open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { execa } from 'execa';
import { MANIFEST_PATH } from '../../contract/bundle.ts';
import { freePort } from '../helpers/free-port.ts';
import { galley, type RunningGalley, startGalley } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { buildBundle, packTar, siteOf } from './bundles.ts';
import { type Fixture, openFixture } from './fixture.ts';

let fixture: Fixture;
const running: RunningGalley[] = [];

beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop('SIGKILL')));
  await fixture.close();
});

const variables = () => ({ GALLEY_HOME: join(fixture.folder, 'home'), DEPLOYMENT_PORT: '0' });

async function start(more: Record<string, string> = {}) {
  const process = await startGalley(['deployment', '--values', fixture.valuesFile], { ...variables(), ...more });
  running.push(process);
  const url = /http\S+/.exec(process.ready)?.[0] ?? '';
  const status = async (): Promise<{ lastError: { message: string } | null }> =>
    await (await fetch(`${url}/-/status`)).json();
  return { process, status, page: async () => await (await fetch(`${url}/guides/start`)).text() };
}

test('galley deployment serves its last good version after a crash, even if the bundle cannot be downloaded', async () => {
  const bundle = await buildBundle(siteOf('7'));
  const store = await startHttpSite((_request, response) => response.end(bundle));
  await fixture.writeValues({ enabled: true, bundleUrl: `${store.origin}/bundle.tar.gz` });
  const first = await start();
  await waitFor(async () => (await first.page()).includes('start 7'), { describe: 'served the version' });
  await first.process.stop('SIGKILL');
  await store.close();
  const second = await start();
  expect(await second.page()).toContain('start 7');
});

test('a restarted galley deployment listens only once its last good version is open', async () => {
  const bundle = await buildBundle(siteOf('7'));
  const store = await startHttpSite((_request, response) => response.end(bundle));
  await fixture.writeValues({ enabled: true, bundleUrl: `${store.origin}/bundle.tar.gz` });
  const port = await freePort();
  const first = await start({ DEPLOYMENT_PORT: String(port) });
  await waitFor(async () => (await first.page()).includes('start 7'), { describe: 'served the version' });
  await first.process.stop('SIGKILL');
  await store.close();
  // The deployment waits at this pipe until someone writes its state into it.
  const deployments = join(fixture.folder, 'home', 'deployments');
  const stateFile = join(deployments, (await readdir(deployments))[0] ?? '', 'state.json');
  const state = await readFile(stateFile);
  await rm(stateFile);
  await execa('mkfifo', [stateFile]);
  const starting = start({ DEPLOYMENT_PORT: String(port) });
  const pipe = await open(stateFile, 'w');
  await expect(fetch(`http://127.0.0.1:${port}/guides/start`)).rejects.toThrow('fetch failed');
  await pipe.writeFile(state);
  await pipe.close();
  expect(await (await starting).page()).toContain('start 7');
});

/** A bundle whose manifest of 15 MB is harmless to send, and takes more memory than the deployment may have. */
async function largeManifest(): Promise<Buffer> {
  const text = `{"files":[${'{},'.repeat(5_000_000)}{}]}`;
  return gzipSync(await packTar([{ header: { name: MANIFEST_PATH }, content: Buffer.from(text) }]));
}

test('galley deployment serves on if what fetches is killed or runs out of memory, and then fetches the next', async () => {
  let isDown = true;
  const bodies = new Map([
    ['/7', await buildBundle(siteOf('7'))],
    ['/8', await buildBundle(siteOf('8'))],
    ['/large', await largeManifest()],
  ]);
  let requests = 0;
  const store = await startHttpSite((request, response) => {
    requests += 1;
    if (request.url === '/8' && isDown) {
      if (requests === 1) response.write('the beginning');
      else response.writeHead(503).end();
      return;
    }
    response.end(bodies.get(request.url ?? ''));
  });
  await fixture.writeValues({ enabled: true, bundleUrl: `${store.origin}/7` });
  const { process: deployment, page, status } = await start({ NODE_OPTIONS: '--max-old-space-size=96' });
  const expectError = async (path: string, message: RegExp, meanwhile = async () => {}): Promise<void> => {
    requests = 0;
    await fixture.writeValues({ enabled: true, bundleUrl: store.origin + path });
    await waitFor(async () => requests > 0, { describe: `asked for ${path}` });
    await meanwhile();
    await waitFor(async () => message.test((await status()).lastError?.message ?? ''), {
      describe: `failed at ${path}`,
    });
    expect(await page()).toContain('start 7');
  };
  try {
    await waitFor(async () => (await page()).includes('start 7'), { describe: 'served the version' });
    await expectError('/8', /the process that fetches bundles has ended \(SIGKILL\)/, async () => {
      const { stdout } = await execa('pgrep', ['-P', String(deployment.process.pid)]);
      for (const pid of stdout.split('\n')) process.kill(Number(pid), 'SIGKILL');
    });
    await expectError('/large', /the process that fetches bundles has ended \((?:SIGABRT|SIGTRAP|exit \d+)\)/);
    isDown = false;
    await fixture.writeValues({ enabled: true, bundleUrl: `${store.origin}/8` });
    await waitFor(async () => (await page()).includes('start 8'), { describe: 'served the next version' });
  } finally {
    await store.close();
  }
});

test('galley deployment with an invalid values file exits with 2 and names the key', async () => {
  await writeFile(fixture.valuesFile, 'staticExport:\n  enabled: perhaps\n');
  const { code, stderr } = await galley(['deployment', '--values', fixture.valuesFile], variables());
  expect(stderr).toMatch(/staticExport\.enabled/);
  expect(code).toBe(2);
});
