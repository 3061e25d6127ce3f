import { createReadStream } from 'node:fs';
import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { writeDurably } from '../../base/durable-file.ts';
import { errorCode } from '../../base/error-code.ts';
import { FolderInUse, lockFolder } from '../../embedded/folder-lock.ts';
import { reportKey, workPrefix } from '../../exporter/object-keys.ts';
import { filesOf, type MemoryCrawl } from '../../exporter/store/memory-crawl.ts';
import { loadCrawl, readIntactHead, saveCrawl } from '../../exporter/store/saved-crawl.ts';
import type { Spill } from '../../exporter/store/spill.ts';
import { createFileStore } from '../../platform/objects/file-store.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';
import { CommandError, UsageError } from '../command-error.ts';
import { checkFile } from './output.ts';

const LOCK_FILE = 'lock';
const OBJECTS_FOLDER = 'objects';
/** The last export's crawl (`saveCrawl`). */
const CRAWL_FILE = 'last-export.jsonl';

const BLOCK_CHARACTERS = 64 * 1024;

/** The folder of `--incremental`: what the last export stored, for the next one. */
export interface ExportState {
  objects: ObjectStore;
  objectsFolder: string;
  /** The last export; otherwise why it can't be reused. */
  load(reuseKey: string, spill: Spill): Promise<MemoryCrawl | 'none' | 'broken' | 'other'>;
  /** Keeps a crawl for the next export instead of the last one, if it can be reused. */
  save(crawl: MemoryCrawl, spill: Spill): Promise<void>;
  /** Deletes what a job stored that failed. */
  forget(jobId: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Checks before the export that a folder can hold the state. Creates nothing.
 * @throws UsageError that says what is in the way
 */
export async function checkStateFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new UsageError(`--incremental: ${folder} is no folder that can be read`);
  });
  if (names !== undefined && names.length > 0 && !names.includes(LOCK_FILE)) {
    throw new UsageError(
      `--incremental: ${folder} holds something else than the state of an export: name an empty one`,
    );
  }
  await checkFile('--incremental', join(folder, LOCK_FILE));
}

/**
 * Opens a folder that `checkStateFolder` has accepted.
 * @throws CommandError if another export uses it
 */
export async function openExportState(folder: string): Promise<ExportState> {
  const unlock = await lockFolder(join(folder, LOCK_FILE), folder).catch((error: unknown) => {
    throw error instanceof FolderInUse
      ? new CommandError(`--incremental: another export uses ${folder}: wait for its end, or name another folder`)
      : error;
  });
  const objectsFolder = join(folder, OBJECTS_FOLDER);
  const objects = await createFileStore({ folder: objectsFolder, now: Date.now });
  const crawlFile = join(folder, CRAWL_FILE);
  const readLines = () => createInterface({ input: createReadStream(crawlFile), crlfDelay: Number.POSITIVE_INFINITY });
  let hasCrawl = (await readdir(folder)).includes(CRAWL_FILE);

  return {
    objects,
    objectsFolder,

    async load(reuseKey, spill) {
      if (!hasCrawl) return 'none';
      const head = await readIntactHead(readLines());
      if (head === undefined) return 'broken';
      if (head.reuseKey !== reuseKey) return 'other';
      const crawl = await loadCrawl(readLines(), spill);
      for (const key of usedKeys(crawl, spill)) if ((await objects.head(key)) === null) return 'broken';
      return crawl;
    },

    async save(crawl, spill) {
      if (crawl.record.archiveHeadBytes === null) return;
      const draft = `${crawlFile}.part`;
      // Left by an export that was killed.
      await rm(draft, { force: true });
      await writeDurably(draft, inBlocks(saveCrawl(crawl, spill)), 0o600);
      await rename(draft, crawlFile);
      hasCrawl = true;
      const used = usedKeys(crawl, spill);
      await deleteObjects(objects, '', (key) => !used.has(key));
      await removeEmptyFolders(objectsFolder);
    },

    async forget(jobId) {
      await objects.delete([reportKey(jobId)]);
      await deleteObjects(objects, workPrefix(jobId), () => true);
      await removeEmptyFolders(objectsFolder);
    },

    async close() {
      await unlock();
      // An export that never completed leaves no trace.
      if (!hasCrawl) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The keys of all objects that an export needs if it reuses this crawl. */
function usedKeys({ archive, byId }: MemoryCrawl, spill: Spill): Set<string> {
  const keys = new Set(archive === null ? [] : [archive.objectKey]);
  for (const { file } of filesOf(spill, byId)) keys.add(file.objectKey);
  return keys;
}

/** Each block is one write. */
function* inBlocks(lines: Iterable<string>): Generator<string> {
  let block = '';
  for (const line of lines) {
    block += `${line}\n`;
    if (block.length < BLOCK_CHARACTERS) continue;
    yield block;
    block = '';
  }
  yield block;
}

async function deleteObjects(objects: ObjectStore, prefix: string, isMeant: (key: string) => boolean): Promise<void> {
  const keys: string[] = [];
  for await (const key of objects.list(prefix)) if (isMeant(key)) keys.push(key);
  await objects.delete(keys);
}

/** The object store leaves the folders of objects that it deletes. */
async function removeEmptyFolders(root: string): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== '.tmp');
  // Those inside first.
  for (const path of folders
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
    .reverse()) {
    await rmdir(path).catch(() => undefined);
  }
}
