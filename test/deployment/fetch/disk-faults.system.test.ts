import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { type GuardedChild, spawnGuarded } from '../../../embedded/guarded-child.ts';
import { freePort } from '../../helpers/free-port.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';
import { RangeStore } from '../../helpers/range-store.ts';
import { shellEnvironment } from '../../helpers/shell-environment.ts';
import { builtGalley } from '../../helpers/system/built-product.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { siteOf } from '../bundles.ts';
import { buildMemberBundle } from '../member-bundle.ts';

const TIMEOUT_MS = 300_000;

/** The state folder's size: enough for a few small versions, too small for another one next to the filler. */
const DISK_KIB = 4096;

/** Mounts a small disk as the state folder in a new mount namespace, then execs the deployment. */
const ON_SMALL_DISK = `
mount -t tmpfs -o size=${DISK_KIB}k tmpfs "$GALLEY_HOME" && echo $$ > "$PID_FILE" && exec "$@"
`;

let folder: string;
let store: HttpSite;
const bundles = new RangeStore();
let deployment: GuardedChild;
let url: string;
let versions = 0;

beforeAll(async () => {
  const galley = await builtGalley();
  folder = await mkdtemp(join(tmpdir(), 'galley-disk-'));
  const home = await mkdtemp(join(folder, 'home-'));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  store = await startHttpSite((request, response) => bundles.respond(request, response));
  await publish();
  const variables = { GALLEY_HOME: home, DEPLOYMENT_PORT: String(port), LOG_LEVEL: 'warn' };
  const environment = shellEnvironment({ ...variables, PID_FILE: join(folder, 'pid') });
  const command = [process.execPath, galley, 'deployment', '--values', join(folder, 'values.yaml')];
  const namespace = ['--map-root-user', '--mount', 'sh', '-c', ON_SMALL_DISK, 'sh', ...command];
  deployment = spawnGuarded('unshare', namespace, environment);
  await untilServed(1);
}, TIMEOUT_MS);
afterAll(async () => {
  await deployment.stop();
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

/**
 * Names the next version in the values file.
 * @param noise what doesn't compress, so that each version needs disk space
 */
async function publish(noise = randomBytes(512 * 1024)): Promise<number> {
  versions += 1;
  bundles.bodies.set(`/${versions}`, await buildMemberBundle(siteOf(String(versions), { 'noise.bin': noise })));
  const values = { staticExport: { enabled: true, bundleUrl: `${store.origin}/${versions}` } };
  await writeFile(join(folder, 'values.new'), JSON.stringify(values));
  await rename(join(folder, 'values.new'), join(folder, 'values.yaml'));
  return versions;
}

type Status = { version: string | null; stale: boolean; state: string; lastError: { message: string } | null };

async function status(): Promise<Status> {
  return await (await fetch(`${url}/-/status`)).json();
}

async function untilServed(version: number): Promise<void> {
  await waitFor(
    async () => {
      const found = await status();
      if (found.version !== String(version) || found.lastError !== null) throw new Error(JSON.stringify(found));
      return true;
    },
    { describe: `untilServed version ${version}: ${deployment.output()}` },
  );
}

/** Runs a command in the mount namespace of the deployment's disk. */
async function onDisk(script: string): Promise<void> {
  const pid = (await readFile(join(folder, 'pid'), 'utf8')).trim();
  const { GALLEY_HOME = '' } = Object.fromEntries(
    (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').map((line) => line.split('=')),
  );
  await execa('nsenter', ['--target', pid, '--user', '--mount', '--preserve-credentials', 'sh', '-c', script], {
    env: { HOME_DISK: GALLEY_HOME },
  });
}

async function expectFailure(code: string, version: number): Promise<void> {
  const found = await waitFor(
    async () => {
      const each = await status();
      return each.lastError === null ? undefined : each;
    },
    { describe: 'reported the fault' },
  );
  expect(found).toMatchObject({ state: 'serving', version: String(version), stale: true });
  expect(found.lastError?.message).toContain(code);
  const page = await fetch(`${url}/guides/start`);
  expect([page.status, await page.text()]).toEqual([200, `<title>start ${version}</title>`]);
}

test(
  'a full disk: the deployment serves the last version, reports the error, and recovers when space is free',
  async () => {
    const before = versions;
    await onDisk(`dd if=/dev/zero of="$HOME_DISK/filler" bs=1k 2>/dev/null; true`);
    const next = await publish();
    await expectFailure('ENOSPC', before);
    await onDisk('rm "$HOME_DISK/filler"');
    await untilServed(next);
  },
  TIMEOUT_MS,
);

test(
  'a download that filled the disk leaves its space to a smaller bundle, which is fetched in parts',
  async () => {
    const noise = randomBytes(512 * 1024);
    const before = await publish(noise);
    await untilServed(before);
    await publish(randomBytes(DISK_KIB * 1024));
    await expectFailure('ENOSPC', before);
    await untilServed(await publish(noise));
  },
  TIMEOUT_MS,
);

test(
  'a read-only disk: the deployment serves the last version, reports the error, and recovers when it can write',
  async () => {
    const before = versions;
    await onDisk('mount -o remount,ro "$HOME_DISK"');
    const next = await publish();
    await expectFailure('EROFS', before);
    await onDisk('mount -o remount,rw "$HOME_DISK"');
    await untilServed(next);
  },
  TIMEOUT_MS,
);
