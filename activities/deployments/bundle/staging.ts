import { randomUUID } from 'node:crypto';
import { constants, copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncToDisk, writeDurably } from '../../../base/durable-file.ts';
import { errorCode } from '../../../base/error-code.ts';
import { hashFile } from '../../../base/sha256.ts';
import { createFileWriter, type FileWriter } from '../../../bundle/file-writer.ts';
import type { BundleFile } from '../../../contract/bundle.ts';

/**
 * Files on their way to a place, named by their SHA-256. What a canceled or killed write leaves here, the next one uses.
 * It holds at most the changed files of one version, and nothing once a version is in place.
 */
export type Staging = {
  /** For archives that are downloaded whole. */
  downloads: string;
  /** Makes the folder and removes all files but these, which are hashes. */
  keepOnly(hashes: ReadonlySet<string>): Promise<void>;
  /** Whether a file is there and intact; a damaged one is removed. */
  has(file: BundleFile): Promise<boolean>;
  /** Writes files under their hash. */
  writer(): Pick<FileWriter, 'write' | 'written' | 'abandon'>;
  /**
   * The path of a file's bytes, which the caller may move away.
   * @param isShared other files of the version have the same bytes
   */
  take(file: { sha256: string; content?: Buffer }, isShared: boolean): Promise<string>;
  clear(): Promise<void>;
};

const DOWNLOADS = 'downloads';

/** Longer than any site goes on with a write: the place is no longer written to from this machine. */
const OLD_MS = 7 * 24 * 3_600_000;

/** @param folder exclusive, on the disk of the place if files are moved there. Only one write at a time uses it. */
export function createStaging(folder: string): Staging {
  const downloads = join(folder, DOWNLOADS);
  return {
    downloads,
    async keepOnly(hashes) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const name of await readdir(folder)) {
        if (name !== DOWNLOADS && !hashes.has(name)) await rm(join(folder, name), { recursive: true, force: true });
      }
    },
    async has({ sha256, size }) {
      const path = join(folder, sha256);
      try {
        if ((await stat(path)).size === size && (await hashFile(path)) === sha256) return true;
      } catch (error) {
        if (errorCode(error) === 'ENOENT') return false;
        throw error;
      }
      // The worker was killed while it wrote the file.
      await rm(path);
      return false;
    },
    writer() {
      const { write, ...writer } = createFileWriter(folder);
      return { ...writer, write: (file, content) => write({ ...file, path: `${file.sha256}` }, content) };
    },
    async take({ sha256, content }, isShared) {
      const staged = join(folder, sha256);
      if (content === undefined && !isShared) return staged;
      const own = join(folder, randomUUID());
      if (content !== undefined) await writeDurably(own, content);
      else {
        await copyFile(staged, own, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
        await syncToDisk(own);
      }
      return own;
    },
    clear: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Removes the folders of places that were not written to for a week. */
export async function dropOldStaging(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const path = join(parent, name);
    // Another process may have removed it meanwhile.
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && found.mtimeMs < Date.now() - OLD_MS) await rm(path, { recursive: true, force: true });
  }
}
