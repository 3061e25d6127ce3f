import { constants } from 'node:fs';
import { access, copyFile, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BundleInvalidError } from '../../bundle/errors.ts';
import { NO_LIMITS } from '../../bundle/manifest.ts';
import { MANIFEST_PATH } from '../../contract/bundle.ts';
import { makeFolder } from '../../programs/process/make-folder.ts';
import { CommandError, UsageError } from '../command-error.ts';

/** Where an export goes: one archive, or a folder with the unpacked bundle. */
export type Output = { kind: 'archive' | 'folder'; path: string };

const ARCHIVE = /\.(tar\.gz|tgz)$/i;
/** Names that promise another kind of archive. */
const OTHER_ARCHIVE = /\.(zip|tar|tar\.(bz2|xz|zst)|7z|rar|gz)$/i;

/**
 * Decides whether `--out` names an archive or a folder, and checks before the export that it can be written. A folder
 * must be missing, empty, or an earlier export, which is replaced.
 * @throws UsageError that says what is in the way
 */
export async function checkOutput(path: string): Promise<Output> {
  const present = await existing(path);
  if (!present?.isDirectory() && !ARCHIVE.test(path) && OTHER_ARCHIVE.test(path))
    throw new UsageError(`--out: ${path}: expected a name that ends with .tar.gz, or that of a folder`);
  if (present?.isDirectory()) {
    // A link to a folder stays, and what it leads to is replaced.
    const target = await realpath(path);
    await checkReplaceable(target);
    await checkWritable('--out', dirname(target));
    return { kind: 'folder', path: target };
  }
  if (present !== undefined && !present.isFile()) throw new UsageError(`--out: ${path} is neither a file nor a folder`);
  await checkFile('--out', path);
  return { kind: present?.isFile() || ARCHIVE.test(path) ? 'archive' : 'folder', path };
}

/**
 * Checks before the export that a file can be written. Creates nothing: missing folders are created with the file.
 * @throws UsageError that says what is in the way
 */
export async function checkFile(option: '--out' | '--report' | '--incremental', file: string): Promise<void> {
  if ((await existing(file))?.isDirectory())
    throw new UsageError(`${option}: expected a file, but ${file} is a folder`);
  let folder = dirname(file);
  while ((await existing(folder)) === undefined && dirname(folder) !== folder) folder = dirname(folder);
  if (!(await existing(folder))?.isDirectory()) throw new UsageError(`${option}: ${folder} is no folder`);
  await checkWritable(option, folder);
}

/** Copies an archive to `file`, whole or not at all. */
export async function copyTo(file: string, archive: string): Promise<void> {
  const partial = `${file}.${process.pid}.part`;
  try {
    await makeFolder(dirname(file));
    await copyFile(archive, partial);
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}

/**
 * Unpacks an archive and puts the result at `folder`, whole or not at all: it is written beside it and then renamed.
 * @throws CommandError if the archive is not a valid bundle
 */
export async function unpackTo(folder: string, archive: string, signal: AbortSignal): Promise<void> {
  const beside = (suffix: string): string => join(dirname(folder), `.${basename(folder)}.${process.pid}.${suffix}`);
  const partial = beside('part');
  const { unpackBundle } = await import('../../deployment/fetch/unpack.ts');
  const earlier = beside('old');
  try {
    await rm(partial, { recursive: true, force: true });
    await makeFolder(partial);
    await unpackBundle({ archive, folder: partial, limits: NO_LIMITS, signal, accept: () => {} });
    // Something else may have been put there during the export.
    if ((await existing(folder)) !== undefined) await checkReplaceable(folder);
    await rename(folder, earlier).catch(ignoreMissing);
    await rename(partial, folder).catch(async (error: unknown) => {
      await rename(earlier, folder).catch(ignoreMissing);
      throw error;
    });
    await rm(earlier, { recursive: true, force: true });
  } catch (error) {
    if (!(error instanceof BundleInvalidError)) throw error;
    throw new CommandError(`The bundle can't be unpacked: ${error.message}. --out FILE.tar.gz keeps it as it is.`);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function checkReplaceable(folder: string): Promise<void> {
  if ((await readdir(folder)).length === 0 || (await existing(join(folder, MANIFEST_PATH)))?.isFile()) return;
  throw new UsageError(`--out: the folder ${folder} holds something else than an earlier export: name an empty one`);
}

async function checkWritable(option: string, folder: string): Promise<void> {
  await access(folder, constants.W_OK | constants.X_OK).catch(() => {
    throw new UsageError(`${option}: the folder ${folder} can't be written`);
  });
}

/** Undefined also if a folder above can't be read: the check of that folder reports it. */
async function existing(path: string): Promise<Awaited<ReturnType<typeof stat>> | undefined> {
  return await stat(path).catch(() => undefined);
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
