import { createReadStream } from 'node:fs';
import { constants, copyFile, link, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { syncToDisk, writeDurably } from '../../base/durable-file.ts';
import { checkedContent, type ExpectedFile, type Head } from '../../bundle/read-bundle.ts';
import { MANIFEST_PATH, SIGNATURE_PATH } from '../../contract/bundle.ts';

/** Files written and flushed at once: the disk batches flushes, and one by one thousands of pages take minutes. */
const MAX_WRITES = 32;

/** Up to this size a file is checked in memory and written while the next one is read. */
const SMALL_BYTES = 512 * 1024;

type Content = AsyncIterable<Buffer> | Iterable<Buffer>;

export type TreeWriter = {
  /**
   * Checks a file and writes it. The path must be checked already.
   * @throws BundleInvalidError if size or hash differ; a disk error may only show in a later call
   */
  write(this: void, file: ExpectedFile, content: Content): Promise<void>;
  /**
   * Links a file of another version, or copies it if the file system has no links. Returns whether it is as expected; if
   * not, nothing is written. Its content is checked only if it was modified after its version was stored: reading
   * thousands of unchanged files would take longer than all the rest.
   */
  adopt(file: ExpectedFile, source: string, storedAtMs: number): Promise<boolean>;
  /**
   * Writes the checked head last, so that its time is the version's, and waits until every file and folder is on the
   * disk.
   */
  finish(head: Head): Promise<void>;
  /** Waits for pending writes, whatever their outcome. */
  abandon(): Promise<void>;
};

/** Writes checked files into an exclusive folder. */
export function createTreeWriter(root: string): TreeWriter {
  const folders = new Set<string>([root]);
  const writes = new Set<Promise<void>>();
  const faults: unknown[] = [];

  async function makeFolder(folder: string): Promise<void> {
    if (folders.has(folder)) return;
    await mkdir(folder, { recursive: true });
    for (let each = folder; !folders.has(each); each = dirname(each)) folders.add(each);
  }

  async function inBackground(write: Promise<void>): Promise<void> {
    const settled: Promise<void> = write
      .catch((error: unknown) => void faults.push(error))
      .finally(() => writes.delete(settled));
    writes.add(settled);
    if (writes.size >= MAX_WRITES) await Promise.race(writes);
    if (faults.length > 0) throw faults[0];
  }

  async function write(file: ExpectedFile, content: Content): Promise<void> {
    const target = join(root, file.path);
    await makeFolder(dirname(target));
    const checked = checkedContent(file, content);
    if (file.size > SMALL_BYTES) {
      await writeDurably(target, checked);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of checked) chunks.push(chunk);
    await inBackground(writeDurably(target, chunks));
  }

  async function writeWhole(path: string, content: Buffer): Promise<void> {
    await write({ path, size: content.length, sha256: undefined }, [content]);
  }

  async function written(): Promise<void> {
    await Promise.all(writes);
    if (faults.length > 0) throw faults[0];
  }

  return {
    write,

    async adopt(file, source, storedAtMs) {
      if (!(await isAsExpected(file, source, storedAtMs))) return false;
      const target = join(root, file.path);
      await makeFolder(dirname(target));
      await link(source, target).catch(() => copyDurably(source, target));
      return true;
    },

    async finish({ manifest, signature }) {
      await written();
      if (signature !== undefined) await writeWhole(SIGNATURE_PATH, signature);
      await writeWhole(MANIFEST_PATH, manifest);
      await written();
      await pLimit(MAX_WRITES).map(folders, syncToDisk);
    },

    async abandon() {
      await Promise.all(writes);
    },
  };
}

async function isAsExpected(file: ExpectedFile, source: string, storedAtMs: number): Promise<boolean> {
  try {
    const { size, mtimeMs } = await stat(source);
    if (size !== file.size) return false;
    if (mtimeMs <= storedAtMs) return true;
    // A stream for each of thousands of small files would take longer than their hashes.
    const content = file.size > SMALL_BYTES ? createReadStream(source) : [await readFile(source)];
    for await (const _ of checkedContent(file, content));
    return true;
  } catch {
    return false;
  }
}

async function copyDurably(source: string, target: string): Promise<void> {
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await syncToDisk(target);
}
