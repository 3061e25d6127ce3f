import { generateKeyPairSync } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { pino } from 'pino';
import { createAirgapTarget } from '../../activities/deployments/targets/airgap.ts';
import { importFolder } from '../../cli/deployment/import-folder.ts';
import type { BundleManifest } from '../../contract/bundle.ts';
import { integrityOf } from '../../contract/integrity.ts';
import { createSigner } from '../../contract/signing.ts';
import { createDeployment } from '../../deployment/deployment.ts';
import { readServedManifest } from '../../deployment/fetch/served.ts';
import { deploymentFolder } from '../../programs/process/home.ts';
import { deploymentWrite } from '../activities/deployments/deployment-write.ts';
import { buildBundle, manifestOf, sha256, siteOf } from '../deployment/bundles.ts';
import { buildMemberBundle } from '../deployment/member-bundle.ts';
import { galleyHere } from '../helpers/galley.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const { sign } = createSigner(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

const transfer = (): string => join(folder, 'transfer');
const valuesFile = (): string => join(folder, 'here', 'values.yaml');

/** A transfer folder with this bundle, and a values file with comments. */
async function prepare(bundle: Buffer, { signs = false, values = '' } = {}): Promise<void> {
  await rm(transfer(), { recursive: true, force: true });
  await mkdir(transfer(), { recursive: true });
  await mkdir(join(folder, 'here'), { recursive: true });
  const text = 'staticExport:\n  enabled: true\n';
  const sums = `${sha256(bundle)}  bundle.tar.gz\n${sha256(text)} *values.yaml\n`;
  await writeFile(join(transfer(), 'bundle.tar.gz'), bundle);
  await writeFile(join(transfer(), 'values.yaml'), text);
  await writeFile(join(transfer(), 'SHA256SUMS'), sums);
  if (signs) await writeFile(join(transfer(), 'SHA256SUMS.sig'), `${sign(Buffer.from(sums))}\n`);
  await writeFile(valuesFile(), `# ours\nstaticExport:\n  enabled: false # for now\n${values}`);
}

const signedBundle = (version: string): Promise<Buffer> => buildMemberBundle(siteOf(version), { sign });

it('installs a bundle once, keeps the comments, and a second import changes nothing', async () => {
  const bundle = await buildBundle(siteOf('2026-11-21.3'));
  await prepare(bundle);
  const installed = join(folder, 'here', 'bundles', 'values.yaml', '2026-11-21.3.tar.gz');
  expect(await importFolder(transfer(), valuesFile())).toMatchObject({ version: '2026-11-21.3', changed: true });
  const written = await readFile(valuesFile(), 'utf8');
  expect(written).toBe(
    `# ours\nstaticExport:\n  enabled: true # for now\n  bundleUrl: "${pathToFileURL(installed).href}"\n`,
  );
  expect((await readFile(installed)).equals(bundle)).toBe(true);
  const before = await stat(installed);
  expect(await importFolder(transfer(), valuesFile())).toMatchObject({ bundle: installed, changed: false });
  expect(await readFile(valuesFile(), 'utf8')).toBe(written);
  expect(await stat(installed)).toMatchObject({ mtimeMs: before.mtimeMs, ino: before.ino });
});

it('with a key, accepts only a folder and a bundle signed for it', async () => {
  const values = `  publicKey: ${key}\n`;
  await prepare(await signedBundle('1'), { values });
  await expect(importFolder(transfer(), valuesFile())).rejects.toThrow(/SHA256SUMS\.sig is missing/);
  await writeFile(join(transfer(), 'SHA256SUMS.sig'), sign(Buffer.from('other sums')));
  await expect(importFolder(transfer(), valuesFile())).rejects.toThrow(/not a signature of staticExport\.publicKey/);
  await prepare(await buildBundle(siteOf('1')), { signs: true, values });
  await expect(importFolder(transfer(), valuesFile())).rejects.toThrow(/bundle\.tar\.gz: it has no/);
  expect(await readFile(valuesFile(), 'utf8')).not.toContain('bundleUrl');
  expect(await readdir(join(folder, 'here', 'bundles', 'values.yaml'))).toEqual([]);
  await prepare(await signedBundle('1'), { signs: true, values });
  expect(await importFolder(transfer(), valuesFile())).toMatchObject({ version: '1', changed: true });
});

it.each([
  ['a changed bundle', () => writeFile(join(transfer(), 'bundle.tar.gz'), 'x'), /bundle\.tar\.gz doesn't match/],
  ['changed values', () => writeFile(join(transfer(), 'values.yaml'), 'x'), /values\.yaml doesn't match/],
  ['no bundle', () => rm(join(transfer(), 'bundle.tar.gz')), /bundle\.tar\.gz is missing/],
  ['no checksums', () => rm(join(transfer(), 'SHA256SUMS')), /SHA256SUMS is missing/],
  ['other checksums', () => writeFile(join(transfer(), 'SHA256SUMS'), 'x'), /expected lines such as sha256sum/],
  [
    'a checksum of a file elsewhere',
    () => writeFile(join(transfer(), 'SHA256SUMS'), `${'a'.repeat(64)}  ../values.yaml\n`),
    /each with a file of the folder/,
  ],
  ['a values file that is no YAML', () => writeFile(valuesFile(), 'a: {'), /expected YAML/],
])('refuses a folder with %s, and changes nothing', async (_name, spoil, message) => {
  await prepare(await buildBundle(siteOf('1')));
  await spoil();
  const before = await readFile(valuesFile(), 'utf8');
  await expect(importFolder(transfer(), valuesFile())).rejects.toMatchObject({
    name: 'UsageError',
    message: expect.stringMatching(message),
  });
  expect(await readFile(valuesFile(), 'utf8')).toBe(before);
  expect(await readdir(join(folder, 'here', 'bundles', 'values.yaml')).catch(() => [])).toEqual([]);
});

const dated = (version: string, createdAt: string): Promise<Buffer> =>
  buildMemberBundle({ ...siteOf(version), createdAt }, { sign });

it('refuses a signed folder that is older than the bundle served, unless it may go back', async () => {
  const values = `  publicKey: ${key}\n`;
  await prepare(await dated('2', '2026-11-22T08:00:00Z'), { signs: true, values });
  await importFolder(transfer(), valuesFile());
  const served = await readFile(valuesFile(), 'utf8');
  await prepare(await dated('1', '2026-11-21T08:00:00+00:00'), { signs: true });
  await writeFile(valuesFile(), served);
  await expect(importFolder(transfer(), valuesFile())).rejects.toMatchObject({
    name: 'UsageError',
    message: expect.stringMatching(/version 1 of .* is older than 2 of .*add --allow-older$/),
  });
  expect(await readFile(valuesFile(), 'utf8')).toBe(served);
  const command = ['deployment', 'import', transfer(), '--values', valuesFile()];
  expect(await galleyHere(command)).toMatchObject({ code: 2 });
  expect(await galleyHere([...command, '--allow-older'])).toMatchObject({ code: 0 });
  expect(await readFile(valuesFile(), 'utf8')).toContain('/1.tar.gz');
  expect(await importFolder(transfer(), valuesFile())).toMatchObject({ version: '1', changed: false });
});

describe('beside a deployment that serves a version', () => {
  const home = (): string => join(folder, 'home');
  const served = (): Promise<BundleManifest | undefined> => readServedManifest(home());

  /** Serves this version once, by a link of the given kind, and ends. */
  async function serve(bundle: Buffer, link: 'http' | 'file'): Promise<void> {
    await mkdir(join(folder, 'here'), { recursive: true });
    const file = join(folder, 'elsewhere.tar.gz');
    await writeFile(file, bundle);
    const server = await startHttpSite((_request, response) => response.end(bundle));
    const bundleUrl = link === 'file' ? pathToFileURL(file).href : `${server.origin}/bundle.tar.gz`;
    await writeFile(valuesFile(), `staticExport:\n  enabled: true\n  bundleUrl: ${bundleUrl}\n`);
    const deployment = createDeployment({
      valuesFile: valuesFile(),
      homeDir: home(),
      logger: pino({ level: 'silent' }),
    });
    try {
      await deployment.start();
      await waitFor(async () => deployment.status().version !== null, { describe: 'served' });
    } finally {
      await deployment.stop();
      await server.close();
    }
  }

  /** Carries an older version, without changing the values file. */
  async function carry(bundle: Buffer): Promise<void> {
    const values = await readFile(valuesFile(), 'utf8');
    await prepare(bundle);
    await writeFile(valuesFile(), values);
  }

  const [older, newer] = ['2026-11-21T08:00:00Z', '2026-11-22T08:00:00Z'];

  it.each(['http', 'file'] as const)('refuses an older folder if the file has a link by %s', async (link) => {
    await serve(await dated('2', newer), link);
    await rm(join(folder, 'elsewhere.tar.gz'));
    await carry(await dated('1', older));
    await expect(importFolder(transfer(), valuesFile(), { served })).rejects.toThrow(
      /version 1 of .* is older than 2 of .*, which the deployment serves.*add --allow-older$/,
    );
    expect(await importFolder(transfer(), valuesFile(), { served, allowOlder: true })).toMatchObject({ version: '1' });
  });

  it('refuses an older folder if the served version is pinned or the link was changed by hand', async () => {
    await serve(await dated('2', newer), 'http');
    await carry(await dated('1', older));
    for (const text of [
      'enabled: true\n  bundleUrl: http://127.0.0.1:1/\n  version: "2"',
      'enabled: false',
      'enabled: true\n  bundleUrl: file:///none',
    ]) {
      await writeFile(valuesFile(), `staticExport:\n  ${text}\n`);
      await expect(importFolder(transfer(), valuesFile(), { served })).rejects.toThrow('which the deployment serves');
    }
  });

  it('refuses a folder that is older than the one imported before, though the deployment serves neither yet', async () => {
    await serve(await dated('1', older), 'http');
    await carry(await dated('3', '2026-11-23T08:00:00Z'));
    await importFolder(transfer(), valuesFile(), { served });
    await carry(await dated('2', newer));
    await expect(importFolder(transfer(), valuesFile(), { served })).rejects.toThrow('which the values file links to');
  });

  it('accepts a newer folder, and says that a pin holds it', async () => {
    await serve(await dated('1', older), 'http');
    await carry(await dated('2', newer));
    const pinned = `${await readFile(valuesFile(), 'utf8')}  version: "1"\n`;
    await writeFile(valuesFile(), pinned);
    expect(await importFolder(transfer(), valuesFile(), { served })).toMatchObject({ version: '2', pin: '1' });
    await writeFile(valuesFile(), pinned);
    const variables = { GALLEY_HOME: home() };
    const done = await galleyHere(
      ['deployment', 'import', transfer(), '--values', valuesFile(), '--allow-older'],
      variables,
    );
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('version pins 1: remove it')]);
  });

  it('finds what is served in GALLEY_HOME, and refuses a folder without it if the link is a URL', async () => {
    await serve(await dated('2', newer), 'http');
    await carry(await dated('1', older));
    const command = ['deployment', 'import', transfer(), '--values', valuesFile()];
    const unknown = await galleyHere(command, { GALLEY_HOME: home() });
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('set GALLEY_HOME')]);
    await mkdir(join(home(), 'deployments'));
    const own = deploymentFolder(valuesFile());
    for (const name of ['state.json', 'versions']) {
      await mkdir(join(home(), ...own), { recursive: true });
      await rename(join(home(), name), join(home(), ...own, name));
    }
    const refused = await galleyHere(command, { GALLEY_HOME: home() });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('which the deployment serves')]);
  });
});

it('keeps the bundles of two values files in one folder apart', async () => {
  const other = join(folder, 'here', 'other.yaml');
  await prepare(await buildBundle(siteOf('1')));
  await importFolder(transfer(), valuesFile());
  const { bundle } = await importFolder(transfer(), valuesFile());
  const own = await readFile(bundle);
  await prepare(await buildBundle({ ...siteOf('1'), domain: 'other.example.com' }));
  await importFolder(transfer(), other);
  expect((await readFile(bundle)).equals(own)).toBe(true);
});

it('keeps the linked bundle and the two before, and removes older ones and what a killed import left', async () => {
  for (const version of ['1', '2', '3', '4']) {
    await prepare(await dated(version, `2026-11-2${version}T08:00:00Z`));
    await importFolder(transfer(), valuesFile());
  }
  const bundles = join(folder, 'here', 'bundles', 'values.yaml');
  expect((await readdir(bundles)).sort()).toEqual(['2.tar.gz', '3.tar.gz', '4.tar.gz']);
  for (const [name, ageHours] of Object.entries({ '.old.part': 25, '.new.part': 1 })) {
    await writeFile(join(bundles, name), 'x');
    await utimes(join(bundles, name), new Date(), new Date(Date.now() - ageHours * 3_600_000));
  }
  await prepare(await dated('2', '2026-11-22T08:00:00Z'));
  await importFolder(transfer(), valuesFile(), { allowOlder: true });
  expect((await readdir(bundles)).sort()).toEqual(['.new.part', '2.tar.gz', '3.tar.gz', '4.tar.gz']);
});

it('replaces the integrity of the link before', async () => {
  const text = JSON.stringify(manifestOf(siteOf('7')));
  const before = `sha256-${'A'.repeat(43)}=`;
  await prepare(await buildBundle(siteOf('7')), { values: `  integrity: ${before} # the bundle\n` });
  await importFolder(transfer(), valuesFile());
  const integrity = integrityOf(sha256(text));
  expect(await readFile(valuesFile(), 'utf8')).toContain(`  integrity: ${integrity} # the bundle\n`);
});

it.each([
  ['a link to a device', 'SHA256SUMS', (path: string) => symlink('/dev/zero', path)],
  ['a link to another file', 'values.yaml', (path: string) => symlink(valuesFile(), path)],
  ['a pipe', 'bundle.tar.gz', (path: string) => execa('mkfifo', [path])],
  ['a folder', 'bundle.tar.gz', (path: string) => mkdir(path)],
  ['too large', 'SHA256SUMS', (path: string) => writeFile(path, '').then(() => truncate(path, 1024 ** 2 + 1))],
])('refuses a folder with %s instead of a file, without reading it', async (_name, part, replace) => {
  await prepare(await buildBundle(siteOf('1')));
  await rm(join(transfer(), part));
  await replace(join(transfer(), part));
  await expect(importFolder(transfer(), valuesFile())).rejects.toMatchObject({
    name: 'UsageError',
    message: expect.stringMatching(new RegExp(`${part}: expected a regular file of at most \\d+ bytes$`)),
  });
});

it('is a command that ends with 0, and with 2 for a bad folder', async () => {
  await prepare(await buildBundle(siteOf('7')));
  const done = await galleyHere(['deployment', 'import', transfer(), '--values', valuesFile(), '--json']);
  expect(done).toMatchObject({ code: 0 });
  expect(JSON.parse(done.stdout)).toMatchObject({ version: '7', changed: true });
  await writeFile(join(transfer(), 'bundle.tar.gz'), 'x');
  const refused = await galleyHere(['deployment', 'import', transfer(), '--values', valuesFile()]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("bundle.tar.gz doesn't match SHA256SUMS") });
});

it('reads what an airgap deployment has written and signed', async () => {
  const bundle = await signedBundle('9');
  const server = await startHttpSite((_request, response) => response.end(bundle));
  try {
    const target = createAirgapTarget(join(folder, 'carried'), { signer: { sign } });
    const bundleUrl = `${server.origin}/bundle.tar.gz`;
    const write = deploymentWrite({ jobId: 'se_9', version: '9', bundleUrl });
    const context = { site: 'docs', signal: new AbortController().signal };
    await target.write(write, context);
  } finally {
    await server.close();
  }
  await mkdir(join(folder, 'here'), { recursive: true });
  await writeFile(valuesFile(), `staticExport:\n  publicKey: ${key}\n`);
  expect(await importFolder(join(folder, 'carried', 'docs', '9'), valuesFile())).toMatchObject({ version: '9' });
  expect(await readFile(join(folder, 'here', 'bundles', 'values.yaml', '9.tar.gz'))).toEqual(bundle);
  for (const above of [join(folder, 'carried', 'docs'), join(folder, 'carried')]) {
    expect(await importFolder(above, valuesFile())).toMatchObject({ version: '9', changed: false });
  }
  await mkdir(join(folder, 'carried', 'api'));
  await writeFile(join(folder, 'carried', 'api', 'latest'), '{"folder": "../docs/9"}');
  await expect(importFolder(join(folder, 'carried'), valuesFile())).rejects.toThrow(/one site, as api or docs in it/);
  await expect(importFolder(join(folder, 'carried', 'api'), valuesFile())).rejects.toThrow(/latest names no version/);
});
