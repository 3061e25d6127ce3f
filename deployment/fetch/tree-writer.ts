import { createReadStream } from 'node:fs';
import { constants, copyFile, link, readFile, stat } from 'node:fs/promises';
import pLimit from 'p-limit';
import { syncToDisk } from '../../base/durable-file.ts';
import { createFileWriter, type FileWriter, SMALL_BYTES } from '../../bundle/file-writer.ts';
import { checkedContent, type ExpectedFile, type Head } from '../../bundle/read-bundle.ts';
import { MANIFEST_PATH, SIGNATURE_PATH } from '../../contract/bundle.ts';

/** Folders flushed at once. */
const FLUSHES = 32;

export type TreeWriter = Pick<FileWriter, 'write' | 'abandon'> & {
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
};

/** Writes checked files into an exclusive folder. */
export function createTreeWriter(root: string): TreeWriter {
  const { write, written, placeFor, abandon, folders } = createFileWriter(root);

  async function writeWhole(path: string, content: Buffer): Promise<void> {
    await write({ path, size: content.length, sha256: undefined }, [content]);
  }

  return {
    write,
    abandon,

    async adopt(file, source, storedAtMs) {
      if (!(await isAsExpected(file, source, storedAtMs))) return false;
      const target = await placeFor(file.path);
      await link(source, target).catch(() => copyDurably(source, target));
      return true;
    },

    async finish({ manifest, signature }) {
      await written();
      if (signature !== undefined) await writeWhole(SIGNATURE_PATH, signature);
      await writeWhole(MANIFEST_PATH, manifest);
      await written();
      await pLimit(FLUSHES).map(folders, syncToDisk);
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
