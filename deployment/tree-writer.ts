import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BundleInvalidError } from './errors.ts';
import { quoted } from './manifest.ts';

/** Flushes in flight at once: the disk batches them, and one by one thousands of small files take minutes. */
const MAX_FLUSHES = 32;

/** `sha256` undefined: taken as it comes (the manifest, which can't name itself). */
export type ExpectedFile = { path: string; size: number; sha256: string | undefined };

export type TreeWriter = {
  /** Writes a file and checks it on the way. Paths must have been checked before. */
  write(file: ExpectedFile, content: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void>;
  /** Waits until every file and folder is on the disk. */
  finish(): Promise<void>;
  /** Waits for flushes under way, whatever their outcome. */
  abandon(): Promise<void>;
};

/** Writes checked files into a folder that nobody else uses. */
export function createTreeWriter(root: string): TreeWriter {
  const folders = new Set<string>([root]);
  const flushes = new Set<Promise<void>>();
  const faults: unknown[] = [];

  async function makeFolder(folder: string): Promise<void> {
    if (folders.has(folder)) return;
    await mkdir(folder, { recursive: true });
    for (let each = folder; !folders.has(each); each = dirname(each)) folders.add(each);
  }

  function flushLater(handle: FileHandle): void {
    const flush: Promise<void> = handle
      .datasync()
      .finally(() => handle.close())
      .catch((error: unknown) => void faults.push(error))
      .finally(() => flushes.delete(flush));
    flushes.add(flush);
  }

  return {
    async write({ path, size, sha256 }, content) {
      const target = join(root, path);
      await makeFolder(dirname(target));
      // `wx` never follows or overwrites anything that stands there already.
      const handle = await open(target, 'wx', 0o644);
      try {
        const hash = createHash('sha256');
        let writtenBytes = 0;
        for await (const chunk of content) {
          writtenBytes += chunk.length;
          if (writtenBytes > size) break;
          hash.update(chunk);
          await handle.writeFile(chunk);
        }
        if (writtenBytes !== size)
          throw new BundleInvalidError(`the file ${quoted(path)} has another size than announced`);
        if (sha256 !== undefined && hash.digest('hex') !== sha256) {
          throw new BundleInvalidError(`the file ${quoted(path)} doesn't match its sha256`);
        }
      } catch (error) {
        await handle.close();
        throw error;
      }
      flushLater(handle);
      if (flushes.size >= MAX_FLUSHES) await Promise.race(flushes);
    },

    async finish() {
      await Promise.all(flushes);
      for (const folder of folders) await syncFolder(folder);
      if (faults.length > 0) throw faults[0];
    },

    async abandon() {
      await Promise.all(flushes);
    },
  };
}

/** Makes a folder's entries (new files, renames) survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
