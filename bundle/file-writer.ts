import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeDurably } from '../base/durable-file.ts';
import { checkedContent, type ExpectedFile } from './read-bundle.ts';

/** Files written and flushed at once: the disk batches flushes, and one by one thousands of pages take minutes. */
const MAX_WRITES = 32;

/** Up to this size a file is checked in memory and written while the next one is read. */
export const SMALL_BYTES = 512 * 1024;

type Content = AsyncIterable<Buffer> | Iterable<Buffer>;

export type FileWriter = {
  /**
   * Checks a file and writes it. The path must be checked already.
   * @throws BundleInvalidError if size or hash differ; a disk error may only show in a later call
   */
  write(this: void, file: ExpectedFile, content: Content): Promise<void>;
  /** Makes the folder of a file, and returns the file's path on the disk. */
  placeFor(path: string): Promise<string>;
  /** Waits until every file is on the disk. */
  written(): Promise<void>;
  /** Waits for pending writes, whatever their outcome. */
  abandon(): Promise<void>;
  /** The root and the folders made in it. */
  folders: ReadonlySet<string>;
};

/** Writes new files, many at once, into a folder that exists. */
export function createFileWriter(root: string): FileWriter {
  const folders = new Set<string>([root]);
  const writes = new Set<Promise<void>>();
  const faults: unknown[] = [];

  async function makeFolder(folder: string): Promise<void> {
    if (folders.has(folder)) return;
    await mkdir(folder, { recursive: true });
    for (let each = folder; !folders.has(each); each = dirname(each)) folders.add(each);
  }

  async function placeFor(path: string): Promise<string> {
    const target = join(root, path);
    await makeFolder(dirname(target));
    return target;
  }

  async function inBackground(write: Promise<void>): Promise<void> {
    const settled: Promise<void> = write
      .catch((error: unknown) => void faults.push(error))
      .finally(() => writes.delete(settled));
    writes.add(settled);
    if (writes.size >= MAX_WRITES) await Promise.race(writes);
    if (faults.length > 0) throw faults[0];
  }

  return {
    folders,
    placeFor,

    async write(file, content) {
      const target = await placeFor(file.path);
      const checked = checkedContent(file, content);
      if (file.size > SMALL_BYTES) {
        await writeDurably(target, checked);
        return;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of checked) chunks.push(chunk);
      await inBackground(writeDurably(target, chunks));
    },

    async written() {
      await Promise.all(writes);
      if (faults.length > 0) throw faults[0];
    },

    async abandon() {
      await Promise.all(writes);
    },
  };
}
