import { open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { freePort } from '../helpers/free-port.ts';
import { galley, type RunningGalley, startGalley } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { buildBundle, siteOf } from './bundles.ts';
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

async function start(more: Record<string, string> = {}): Promise<{ process: RunningGalley; page(): Promise<string> }> {
  const process = await startGalley(['deployment', '--values', fixture.valuesFile], { ...variables(), ...more });
  running.push(process);
  const url = /http\S+/.exec(process.ready)?.[0] ?? '';
  return { process, page: async () => await (await fetch(`${url}/guides/start`)).text() };
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

test('galley deployment with an invalid values file exits with 2 and names the key', async () => {
  await writeFile(fixture.valuesFile, 'staticExport:\n  enabled: perhaps\n');
  const { code, stderr } = await galley(['deployment', '--values', fixture.valuesFile], variables());
  expect(stderr).toMatch(/staticExport\.enabled/);
  expect(code).toBe(2);
});
