import { randomUUID } from 'node:crypto';
import { readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ValuesFileError as EditError, editValues } from '../../activities/deployments/edit-values.ts';
import { withFileLock } from '../../activities/deployments/file-lock.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { hashFile } from '../../base/sha256.ts';
import { readArchiveHead } from '../../bundle/archive-file.ts';
import { BundleInvalidError } from '../../bundle/errors.ts';
import { checkManifest, DEPLOYMENT_LIMITS } from '../../bundle/manifest.ts';
import { type BundleManifest, MANIFEST_PATH } from '../../contract/bundle.ts';
import { ValuesReadError } from '../../deployment/errors.ts';
import { parseValues, readWrittenKeys } from '../../deployment/values/values.ts';
import { makeFolder } from '../../programs/process/make-folder.ts';
import { CommandError, UsageError } from '../command-error.ts';
import { contentOf, copyCarried, findVersion, isMissing } from './transfer-folder.ts';

export type Imported = {
  version: string;
  domain: string;
  /** The installed archive, beside the values file. */
  bundle: string;
  bundleUrl: string;
  /** False if all of it was there already. */
  changed: boolean;
  /** Another version that the values file pins: it is served until the pin is removed. */
  pin: string | null;
};

type ImportOptions = {
  /** Also a bundle that is older than what is served or linked. */
  allowOlder?: boolean;
  /** Reads the manifest of the version that the deployment serves; undefined if none is known. */
  served?: () => Promise<BundleManifest | undefined>;
};

/**
 * Verifies a transfer folder and installs its bundle: the archive goes to a folder of the values file in `bundles/` beside
 * it, and the file then links to it. Nothing is changed unless everything is right; a repeated import changes nothing.
 * @param given a version's folder, or one above it that an airgap deployment wrote: its newest version is imported
 * @throws UsageError naming what is wrong with the folder or the values file, CommandError if the file kept changing
 */
export async function importFolder(
  given: string,
  valuesFile: string,
  { allowOlder = false, served = async () => undefined }: ImportOptions = {},
): Promise<Imported> {
  const folder = await findVersion(given);
  const text = await readValues(valuesFile);
  const { publicKey, integrity: hasIntegrity, link, version: pinned } = readKeys(text, valuesFile);
  // Several values files in one folder may have equal versions.
  const bundles = join(dirname(valuesFile), 'bundles', basename(valuesFile));
  await makeFolder(bundles);
  const partial = join(bundles, `.${randomUUID()}${PART}`);
  try {
    const { sha256, manifest, integrity } = await copyCarried(folder, partial, publicKey);
    const { version, domain } = manifest;
    if (hasIntegrity && manifest.foreign !== undefined) {
      throw new UsageError(`${valuesFile}: staticExport.integrity is set, but the bundle has no ${MANIFEST_PATH}`);
    }
    if (!allowOlder) await refuseOlder(manifest, { folder, valuesFile, link, served: await served() });
    const bundle = join(bundles, `${encodeURIComponent(version)}${ARCHIVE}`);
    const bundleUrl = pathToFileURL(bundle).href;
    // Before anything is installed: the values file may not be editable.
    edited(text, { bundleUrl, integrity }, valuesFile);
    const isInstalled = (await hashFile(bundle).catch(() => undefined)) === sha256;
    if (!isInstalled) await rename(partial, bundle);
    const isLinked = await linkBundle(valuesFile, { bundleUrl, integrity });
    await removeOld(bundles, basename(bundle));
    const pin = pinned === undefined || pinned === version ? null : String(pinned);
    return { version, domain, bundle, bundleUrl, changed: !isInstalled || !isLinked, pin };
  } finally {
    await rm(partial, { force: true });
  }
}

const ARCHIVE = '.tar.gz';
const PART = '.part';

/** As many as the deployment keeps unpacked. */
const KEPT_BEFORE = 2;

/** No import takes longer. */
const DEAD_MS = 86_400_000;

/** Removes the archives of all but the linked version and the ones imported last, and what killed imports left. */
async function removeOld(bundles: string, linked: string): Promise<void> {
  const names = (await readdir(bundles)).filter((name) => name !== linked);
  const found = await Promise.all(
    names.map(async (name) => ({ name, ...(await stat(join(bundles, name)).catch(() => ({ mtimeMs: Date.now() }))) })),
  );
  const archives = found.filter(({ name }) => name.endsWith(ARCHIVE)).sort((a, b) => b.mtimeMs - a.mtimeMs);
  const dead = found.filter(({ name, mtimeMs }) => name.endsWith(PART) && mtimeMs < Date.now() - DEAD_MS);
  for (const { name } of [...archives.slice(KEPT_BEFORE), ...dead]) await rm(join(bundles, name), { force: true });
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

type Known = { folder: string; valuesFile: string; link: URL | undefined; served: BundleManifest | undefined };

/** A signature doesn't make an old bundle new: someone may have carried the folder of last year. */
async function refuseOlder(carried: BundleManifest, { folder, valuesFile, link, served }: Known): Promise<void> {
  if (served === undefined && (link?.protocol === 'http:' || link?.protocol === 'https:')) {
    throw new UsageError(
      `${valuesFile}: GALLEY_HOME has no version of its deployment, so what that serves from ${link.host} isn't known: ` +
        'set GALLEY_HOME to that of the deployment, or add --allow-older',
    );
  }
  const newer = [
    { manifest: served, where: 'the deployment serves' },
    { manifest: await readLinked(link), where: 'the values file links to' },
  ];
  for (const { manifest, where } of newer) {
    if (manifest === undefined || Date.parse(carried.createdAt) >= Date.parse(manifest.createdAt)) continue;
    throw new UsageError(
      `${folder}: version ${carried.version} of ${carried.createdAt} is older than ${manifest.version} of ` +
        `${manifest.createdAt}, which ${where}. To go back to it, add --allow-older`,
    );
  }
}

/** The manifest of the linked bundle, which may not be served yet; undefined if there is none. */
async function readLinked(link: URL | undefined): Promise<BundleManifest | undefined> {
  if (link?.protocol !== 'file:') return undefined;
  try {
    const path = await realpath(fileURLToPath(link));
    const open = () => contentOf(dirname(path), basename(path), DEPLOYMENT_LIMITS.maxBundleBytes);
    const { manifest } = await readArchiveHead(open, DEPLOYMENT_LIMITS);
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
