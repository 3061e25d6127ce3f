import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ValuesFileError as EditError, editValues } from '../../activities/deployments/edit-values.ts';
import { withFileLock } from '../../activities/deployments/file-lock.ts';
import { LATEST } from '../../activities/deployments/targets/airgap.ts';
import { errorCode } from '../../base/error-code.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { hashFile, measure } from '../../base/sha256.ts';
import { BundleInvalidError } from '../../bundle/errors.ts';
import { checkManifest, NO_LIMITS } from '../../bundle/manifest.ts';
import { readBundleHead } from '../../bundle/read-bundle.ts';
import { createVerifier } from '../../contract/signing.ts';
import { ValuesReadError } from '../../deployment/errors.ts';
import { checkSignature } from '../../deployment/fetch/signature.ts';
import { parseValues, readPublicKey } from '../../deployment/values/values.ts';
import { CommandError, UsageError } from '../command-error.ts';

const BUNDLE = 'bundle.tar.gz';
const VALUES = 'values.yaml';
const SUMS = 'SHA256SUMS';
const SUMS_SIGNATURE = 'SHA256SUMS.sig';

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
 * @throws UsageError naming what is wrong with the folder or the values file, CommandError if the file kept changing
 */
export async function importFolder(given: string, valuesFile: string): Promise<Imported> {
  const folder = await findVersion(given);
  const text = await readValues(valuesFile);
  const publicKey = readValuesKey(text, valuesFile);
  const sums = await readSums(folder, publicKey);
  for (const [name, sha256] of sums) {
    if (name !== BUNDLE && (await hashOf(join(folder, name))) !== sha256) throw wrongSum(folder, name);
  }
  const bundles = join(dirname(valuesFile), 'bundles');
  await mkdir(bundles, { recursive: true });
  const partial = join(bundles, `.${randomUUID()}.part`);
  try {
    // The copy is verified, not the medium: that could change in between.
    const sha256 = await copyAndHash(join(folder, BUNDLE), partial);
    if (sha256 !== sums.get(BUNDLE)) throw wrongSum(folder, BUNDLE);
    const version = await readVersion(partial, folder, publicKey);
    const bundle = join(bundles, `${encodeURIComponent(version)}.tar.gz`);
    const bundleUrl = pathToFileURL(bundle).href;
    // Before anything is installed: the values file may not be editable.
    edited(text, bundleUrl, valuesFile);
    const isInstalled = (await hashOf(bundle).catch(() => undefined)) === sha256;
    if (!isInstalled) await rename(partial, bundle);
    const isLinked = await linkBundle(valuesFile, bundleUrl);
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
    return join(site, latestFile.parse(JSON.parse(await readFile(join(site, LATEST), 'utf8'))).folder);
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

function readValuesKey(text: string, valuesFile: string): string | undefined {
  try {
    parseValues(text, valuesFile);
    return readPublicKey(text, valuesFile);
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

async function readPart(folder: string, name: string): Promise<Buffer> {
  return await readFile(join(folder, name)).catch((error: unknown) => {
    throw unreadable(error, folder, name);
  });
}

async function hashOf(file: string): Promise<string> {
  try {
    return await hashFile(file);
  } catch (error) {
    throw unreadable(error, dirname(file), basename(file));
  }
}

async function copyAndHash(from: string, to: string): Promise<string> {
  await stat(from).catch((error: unknown) => {
    throw unreadable(error, dirname(from), basename(from));
  });
  const measured = measure();
  await pipeline(createReadStream(from), measured.stream, createWriteStream(to, { flags: 'wx', flush: true }));
  return measured.result().sha256;
}

async function readVersion(bundle: string, folder: string, publicKey: string | undefined): Promise<string> {
  try {
    const { manifest, signature } = await readBundleHead(createReadStream(bundle));
    checkSignature(publicKey, manifest, signature);
    return checkManifest(manifest, NO_LIMITS).version;
  } catch (error) {
    if (error instanceof BundleInvalidError) throw new UsageError(`${folder}: ${BUNDLE}: ${error.message}`);
    throw error;
  }
}

/** Returns whether the values file linked to the bundle already. */
async function linkBundle(valuesFile: string, bundleUrl: string): Promise<boolean> {
  return await withFileLock(valuesFile, async (stillHeld) => {
    const text = await readValues(valuesFile);
    const next = edited(text, bundleUrl, valuesFile);
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

function edited(text: string, bundleUrl: string, valuesFile: string): string {
  try {
    return editValues(text, { enabled: true, bundleUrl });
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
