import { mkdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { errorCode } from '../../../base/error-code.ts';
import { replaceFile } from '../../../base/replace-file.ts';
import { hashFile, sha256Hex } from '../../../base/sha256.ts';
import { GALLEY_FOLDER } from '../../../bundle/path.ts';
import type { BundleManifest } from '../../../contract/bundle.ts';
import { headersFile } from '../bundle/headers.ts';
import { nginxFiles, nginxRedirects } from '../bundle/nginx.ts';
import { type NewFile, type PublishedPlace, type PublishedState, publishFiles } from '../bundle/publish-files.ts';
import { parsePublishedState } from '../bundle/published-state.ts';
import { redirectPages, redirectsFile } from '../bundle/redirects.ts';
import { createStaging } from '../bundle/staging.ts';
import { checkFolder, checkWritable, type FolderDeps } from '../check-folder.ts';
import type { DeploymentTarget } from '../deployment-target.ts';
import { withFileLock } from '../file-lock.ts';

const STATE_FILE = join(GALLEY_FOLDER, 'deployed.json');
const READS = 32;

/**
 * A folder that any web server serves. It gets the files of the bundle, Netlify's `_headers`, redirects and the URLs of
 * files as Netlify's `_redirects` and for nginx in `.galley/`, and redirects also as pages. Files that Galley didn't
 * write stay.
 */
export function createDirectoryTarget(root: string, { createUnder }: FolderDeps = {}): DeploymentTarget {
  return {
    async write(write, { signal }) {
      // On the same disk, so that each file can be moved to its place.
      const staging = createStaging(join(root, GALLEY_FOLDER, 'staging'));
      await checkFolder(root, createUnder);
      return await withFileLock(join(root, STATE_FILE), (stillHeld) =>
        publishFiles(placeAt(root, stillHeld), write, { staging, signal }),
      );
    },
    check: () => checkWritable(root, createUnder),
  };
}

function placeAt(root: string, stillHeld: () => void): PublishedPlace {
  const folders = new Set<string>();
  return {
    readState: async () => parsePublishedState(await readFile(join(root, STATE_FILE), 'utf8').catch(emptyIfMissing)),
    async writeState(state) {
      stillHeld();
      await replaceFile(join(root, STATE_FILE), JSON.stringify(state));
    },
    checkOwner: stillHeld,
    findDamage: (state) => findDamage(root, state),
    holds: async ({ path, sha256 }) => (await hashFile(join(root, path))) === sha256,
    hasFolders: true,
    filesOf,
    async put({ path }, source) {
      const target = join(root, path);
      const folder = dirname(path);
      if (!folders.has(folder)) await makeFolder(root, folder);
      folders.add(folder);
      await rename(source, target);
    },
    async remove(paths) {
      for (const path of paths) await removeFile(join(root, path));
      const emptied = new Set(paths.map(dirname).filter((folder) => folder !== '.'));
      for (const folder of emptied) await removeEmpty(root, folder);
    },
  };
}

function filesOf(manifest: BundleManifest): NewFile[] {
  const { files } = manifest;
  const made = (path: string, contentType: string, text: string | Buffer): NewFile => {
    const content = Buffer.from(text);
    return { path, contentType, content, sha256: sha256Hex(content) };
  };
  const pages = redirectPages(manifest).map(({ path, html }) => made(path, 'text/html', html));
  const lists = [
    made('_redirects', 'text/plain', redirectsFile(manifest)),
    made(join(GALLEY_FOLDER, 'redirects.map'), 'text/plain', nginxRedirects(manifest)),
    made(join(GALLEY_FOLDER, 'files.conf'), 'text/plain', nginxFiles(manifest)),
  ].filter(({ content }) => content?.length !== 0);
  const headers = made('_headers', 'text/plain', headersFile([...files, ...pages].map(({ path }) => path)));
  const own = new Set(files.map(({ path }) => path));
  return [
    ...files.map(({ path, sha256, contentType }) => ({ path, sha256, contentType })),
    ...[headers, ...pages, ...lists].filter(({ path }) => !own.has(path)),
  ];
}

/** Checks only that files exist: hashing all of them would take as long as writing them. */
async function findDamage(root: string, { files }: PublishedState): Promise<ReadonlySet<string>> {
  const limit = pLimit(READS);
  const missing = await Promise.all(
    Object.keys(files).map((path) => limit(async () => ((await isFile(join(root, path))) ? [] : [path]))),
  );
  return new Set(missing.flat());
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/** Nothing is left to remove if a folder has the file's name by now, or a file the name of its folder. */
async function removeFile(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
  } catch (error) {
    if (errorCode(error) !== 'ERR_FS_EISDIR' && errorCode(error) !== 'ENOTDIR') throw error;
  }
}

/** A file that the state doesn't name may have the name of a folder. */
async function makeFolder(root: string, folder: string): Promise<void> {
  try {
    await mkdir(join(root, folder), { recursive: true });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' && errorCode(error) !== 'ENOTDIR') throw error;
    for (let each = folder; each !== '.'; each = dirname(each)) {
      if (await isFile(join(root, each))) await removeFile(join(root, each));
    }
    await mkdir(join(root, folder), { recursive: true });
  }
}

/** Up to the root, which stays. */
async function removeEmpty(root: string, folder: string): Promise<void> {
  for (let each = folder; each !== '.'; each = dirname(each)) {
    try {
      await rmdir(join(root, each));
    } catch {
      return;
    }
  }
}

function emptyIfMissing(error: unknown): string {
  if (errorCode(error) === 'ENOENT') return '';
  throw error;
}
