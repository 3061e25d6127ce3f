import { createHash, randomUUID } from 'node:crypto';
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ValuesFileError as EditError, editValues } from '../../activities/deployments/edit-values.ts';
import { withFileLock } from '../../activities/deployments/file-lock.ts';
import { LATEST } from '../../activities/deployments/targets/airgap.ts';
import { errorCode } from '../../base/error-code.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { hashFile, measure, sha256Hex } from '../../base/sha256.ts';
import { BundleInvalidError } from '../../bundle/errors.ts';
import { checkManifest, DEPLOYMENT_LIMITS } from '../../bundle/manifest.ts';
import { readBundleHead } from '../../bundle/read-bundle.ts';
import type { BundleManifest } from '../../contract/bundle.ts';
import { integrityOf } from '../../contract/integrity.ts';
import { createVerifier } from '../../contract/signing.ts';
import { ValuesReadError } from '../../deployment/errors.ts';
import { checkHead } from '../../deployment/fetch/authenticity.ts';
import { parseValues, readWrittenKeys } from '../../deployment/values/values.ts';
import { CommandError, UsageError } from '../command-error.ts';

const BUNDLE = 'bundle.tar.gz';
const VALUES = 'values.yaml';
const SUMS = 'SHA256SUMS';
const SUMS_SIGNATURE = 'SHA256SUMS.sig';

/** Of every file but the bundle. */
const MAX_TEXT_BYTES = 1024 * 1024;

/** What `latest` in a site's folder names. It comes from another machine, so it must be a plain name. */
const latestFile = z.object({ folder: z.string().regex(/^(?!\.)[\w.+-]+$/) });

export type Imported = {
  version: string;
  /** The installed archive, beside the values file. */
  bundle: string;
  bundleUrl: string;
  /** False if all of it was there already. */
  changed: boolean;
};

/**
 * Verifies a transfer folder and installs its bundle: the archive goes to `bundles/` beside the values file, which then
 * links to it. Nothing is changed unless everything is right; a repeated import changes nothing.
 * @param given a version's folder, or one above it that an airgap deployment wrote: its newest version is imported
 * @param options `allowOlder`: also a bundle that is older than the one that the values file links to
 * @throws UsageError naming what is wrong with the folder or the values file, CommandError if the file kept changing
 */
export async function importFolder(
  given: string,
  valuesFile: string,
  { allowOlder = false }: { allowOlder?: boolean } = {},
): Promise<Imported> {
  const folder = await findVersion(given);
  const text = await readValues(valuesFile);
  const { publicKey, link } = readKeys(text, valuesFile);
  const sums = await readSums(folder, publicKey);
  for (const [name, sha256] of sums) {
    if (name !== BUNDLE && (await hashOf(folder, name)) !== sha256) throw wrongSum(folder, name);
  }
  const bundles = join(dirname(valuesFile), 'bundles');
  await mkdir(bundles, { recursive: true });
  const partial = join(bundles, `.${randomUUID()}.part`);
  try {
    // The copy is verified, not the medium: that could change in between.
    const sha256 = await copyAndHash(folder, partial);
    if (sha256 !== sums.get(BUNDLE)) throw wrongSum(folder, BUNDLE);
    const { manifest, integrity } = await readHead(partial, folder, publicKey);
    const { version } = manifest;
    if (!allowOlder) await refuseOlder(manifest, folder, link);
    const bundle = join(bundles, `${encodeURIComponent(version)}.tar.gz`);
    const bundleUrl = pathToFileURL(bundle).href;
    // Before anything is installed: the values file may not be editable.
    edited(text, { bundleUrl, integrity }, valuesFile);
    const isInstalled = (await hashFile(bundle).catch(() => undefined)) === sha256;
    if (!isInstalled) await rename(partial, bundle);
    const isLinked = await linkBundle(valuesFile, { bundleUrl, integrity });
    return { version, bundle, bundleUrl, changed: !isInstalled || !isLinked };
  } finally {
    await rm(partial, { force: true });
  }
}

/** The version's folder in a site's folder, or in the folder of all sites if it has only one site. */
async function findVersion(folder: string): Promise<string> {
  const names = await readdir(folder).catch((): string[] => []);
  if (names.includes(SUMS) || names.includes(BUNDLE)) return folder;
  if (names.includes(LATEST)) return await newestVersion(folder);
  const found = await Promise.all(names.map(async (name) => ((await isSite(join(folder, name))) ? [name] : [])));
  const sites = found.flat().sort();
  const [only] = sites;
  if (only === undefined) return folder;
  if (sites.length > 1)
    throw new UsageError(`${folder}: expected the folder of one site, as ${sites.join(' or ')} in it`);
  return await newestVersion(join(folder, only));
}

async function isSite(folder: string): Promise<boolean> {
  return await stat(join(folder, LATEST)).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function newestVersion(site: string): Promise<string> {
  try {
    const latest = await readPart(site, LATEST);
    return join(site, latestFile.parse(JSON.parse(latest.toString('utf8'))).folder);
  } catch {
    throw new UsageError(`${site}: ${LATEST} names no version: name the folder of a version`);
  }
}

/** Empty if there is none yet: the first import creates it. */
async function readValues(valuesFile: string): Promise<string> {
  try {
    return await readFile(valuesFile, 'utf8');
  } catch (error) {
    if (!isMissing(error)) throw new UsageError(`--values: ${valuesFile} can't be read`);
    const isFolder = await stat(dirname(valuesFile)).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isFolder) throw new UsageError(`--values: ${dirname(valuesFile)} is no folder`);
    return '';
  }
}

function readKeys(text: string, valuesFile: string): ReturnType<typeof readWrittenKeys> {
  try {
    parseValues(text, valuesFile);
    return readWrittenKeys(text, valuesFile);
  } catch (error) {
    if (error instanceof ValuesReadError) throw new UsageError(error.message);
    throw error;
  }
}

/** The SHA-256 by name of the files in the folder. */
async function readSums(folder: string, publicKey: string | undefined): Promise<Map<string, string>> {
  const bytes = await readPart(folder, SUMS);
  if (publicKey !== undefined) {
    const signature = await readPart(folder, SUMS_SIGNATURE);
    if (!createVerifier(publicKey).verifies(bytes, signature.toString('latin1'))) {
      throw new UsageError(`${folder}: ${SUMS_SIGNATURE} is not a signature of staticExport.publicKey for ${SUMS}`);
    }
  }
  const sums = new Map<string, string>();
  for (const line of bytes.toString('utf8').split('\n')) {
    if (line.trim() === '') continue;
    const [, sha256, name] = /^([0-9a-f]{64}) [ *](.+?)\r?$/.exec(line) ?? [];
    if (sha256 === undefined || name === undefined || basename(name) !== name) {
      throw new UsageError(
        `${folder}: ${SUMS}: expected lines such as sha256sum prints, each with a file of the folder`,
      );
    }
    sums.set(name, sha256);
  }
  for (const name of [BUNDLE, VALUES]) {
    if (!sums.has(name)) throw new UsageError(`${folder}: ${SUMS} doesn't list ${name}`);
  }
  return sums;
}

/**
 * The content of a regular file: on a medium from elsewhere, a pipe or a device would never end, and a link could lead to
 * any file of this machine.
 */
async function* contentOf(folder: string, name: string, maxBytes: number): AsyncGenerator<Buffer> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const refuse = (): never => {
    throw new UsageError(`${folder}: ${name}: expected a regular file of at most ${maxBytes} bytes`);
  };
  const handle = await open(join(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    if (['ELOOP', 'ENXIO', 'EMLINK'].includes(errorCode(error) ?? '')) return refuse();
    throw unreadable(error, folder, name);
  });
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > maxBytes) refuse();
    if (found.size > 0) yield* handle.createReadStream({ end: found.size - 1, autoClose: false });
  } finally {
    await handle.close();
  }
}

async function readPart(folder: string, name: string): Promise<Buffer> {
  return await buffer(contentOf(folder, name, MAX_TEXT_BYTES));
}

async function hashOf(folder: string, name: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of contentOf(folder, name, MAX_TEXT_BYTES)) hash.update(chunk);
  return hash.digest('hex');
}

async function copyAndHash(folder: string, to: string): Promise<string> {
  const measured = measure();
  const content = contentOf(folder, BUNDLE, DEPLOYMENT_LIMITS.maxBundleBytes);
  await pipeline(content, measured.stream, createWriteStream(to, { flags: 'wx', flush: true }));
  return measured.result().sha256;
}

type CheckedHead = { manifest: BundleManifest; integrity: string };

async function readHead(bundle: string, folder: string, publicKey: string | undefined): Promise<CheckedHead> {
  try {
    const head = await readBundleHead(createReadStream(bundle));
    checkHead({ publicKey }, head);
    const manifest = checkManifest(head.manifest, DEPLOYMENT_LIMITS);
    return { manifest, integrity: integrityOf(sha256Hex(head.manifest)) };
  } catch (error) {
    if (error instanceof BundleInvalidError) throw new UsageError(`${folder}: ${BUNDLE}: ${error.message}`);
    throw error;
  }
}

/** A signature doesn't make an old bundle new: someone may have carried the folder of last year. */
async function refuseOlder(carried: BundleManifest, folder: string, link: URL | undefined): Promise<void> {
  const served = await readServed(link);
  if (served === undefined || Date.parse(carried.createdAt) >= Date.parse(served.createdAt)) return;
  throw new UsageError(
    `${folder}: version ${carried.version} of ${carried.createdAt} is older than ${served.version} of ` +
      `${served.createdAt}, which the values file links to. To go back to it, add --allow-older`,
  );
}

/** The manifest of the installed bundle; undefined if there is none. */
async function readServed(link: URL | undefined): Promise<BundleManifest | undefined> {
  if (link?.protocol !== 'file:') return undefined;
  try {
    const path = await realpath(fileURLToPath(link));
    const content = contentOf(dirname(path), basename(path), DEPLOYMENT_LIMITS.maxBundleBytes);
    const { manifest } = await readBundleHead(content);
    return checkManifest(manifest, DEPLOYMENT_LIMITS);
  } catch (error) {
    if (error instanceof BundleInvalidError || error instanceof UsageError || isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns whether the values file linked to the bundle already. */
async function linkBundle(valuesFile: string, link: Link): Promise<boolean> {
  return await withFileLock(valuesFile, async (stillHeld) => {
    const text = await readValues(valuesFile);
    const next = edited(text, link, valuesFile);
    if (next === text) return true;
    const lastCheck = async (): Promise<void> => {
      stillHeld();
      if ((await readValues(valuesFile)) !== text)
        throw new CommandError(`${valuesFile} has just changed: import again`);
    };
    await replaceFile(valuesFile, next, { lastCheck });
    return false;
  });
}

type Link = { bundleUrl: string; integrity: string };

/** `integrity` is only replaced: otherwise that of an earlier link would refuse the bundle. */
function edited(text: string, { bundleUrl, integrity }: Link, valuesFile: string): string {
  try {
    const replaced = readWrittenKeys(text, valuesFile).integrity ? integrity : undefined;
    return editValues(text, { enabled: true, bundleUrl, integrity: replaced });
  } catch (error) {
    if (error instanceof EditError) throw new UsageError(`${valuesFile}: ${error.message}`);
    throw error;
  }
}

function wrongSum(folder: string, name: string): UsageError {
  return new UsageError(`${folder}: ${name} doesn't match ${SUMS}: copy the folder again`);
}

function unreadable(error: unknown, folder: string, name: string): UsageError {
  const problem = isMissing(error) ? 'is missing' : "can't be read";
  return new UsageError(`${folder}: ${name} ${problem}; expected a folder with ${BUNDLE}, ${VALUES} and ${SUMS}`);
}

function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
