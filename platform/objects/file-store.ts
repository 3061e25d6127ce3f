import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { syncToDisk, writeDurably } from '../../base/durable-file.ts';
import { errorCode } from '../../base/error-code.ts';
import { ObjectMissingError } from '../../exporter/export-failure.ts';
import { readIfThere } from '../../exporter/read-if-there.ts';
import { checkSize } from './check-size.ts';
import { createLinkSigner } from './link-signer.ts';
import { assertObjectKey, type ObjectStore } from './object-store.ts';

/** Large chunks, because each is a disk access and archives have gigabytes. */
const STREAM_CHUNK_BYTES = 512 * 1024;
/** Written chunks that may wait for the disk. */
const MAX_DRAFT_IDLE_MS = 86_400_000;

/**
 * Objects as files in one folder, which several processes may share. Names that begin with a dot are the store's own:
 * `.tmp` for unfinished writes and `.signing-key`. No key can name them.
 *
 * @param isDurable false: objects need not survive a power failure, so writes don't wait for the disk
 */
export async function createFileStore({
  folder,
  now,
  isDurable = true,
}: {
  folder: string;
  now: () => number;
  isDurable?: boolean;
}): Promise<ObjectStore> {
  const tmp = join(folder, '.tmp');
  await mkdir(tmp, { recursive: true });
  const signer = createLinkSigner({ signingKey: await readSigningKey(folder), now });

  const pathOf = (key: string): string => {
    assertObjectKey(key);
    return join(folder, key);
  };

  const get: ObjectStore['get'] = async (key, range) => {
    const handle = await open(pathOf(key)).catch((error: unknown) => throwMissing(error, key));
    const size = (await handle.stat()).size;
    if (size === 0 || (range && range.start >= size)) {
      await handle.close();
      return Readable.from([]);
    }
    const end = range?.end ?? size - 1;
    return handle.createReadStream({ start: range?.start ?? 0, end, highWaterMark: STREAM_CHUNK_BYTES });
  };

  return {
    async put(key, source, { sizeBytes: expectedBytes }) {
      const target = pathOf(key);
      const draft = join(tmp, randomUUID());
      try {
        const measured = checkSize(source, { key, sizeBytes: expectedBytes });
        await (isDurable ? writeDurably(draft, measured.chunks) : writeFile(draft, measured.chunks, { flag: 'wx' }));
        const sizeBytes = measured.sizeBytes();
        await moveTo(draft, target);
        if (isDurable) await syncToDisk(dirname(target));
        return { sizeBytes };
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },
    get,
    async read(key, range) {
      if (range === undefined) return readFile(pathOf(key)).catch((error: unknown) => throwMissing(error, key));
      return readRange(pathOf(key), range).catch((error: unknown) => throwMissing(error, key));
    },
    async head(key) {
      try {
        const info = await stat(pathOf(key));
        return info.isFile() ? { sizeBytes: info.size, modifiedAt: info.mtime } : null;
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    async delete(keys) {
      for (const key of keys) await rm(pathOf(key), { force: true });
    },
    async *unfinished({ begunBefore }) {
      // A draft's name doesn't show its key, so only its age shows that it is abandoned.
      const idleBefore = Math.min(begunBefore?.getTime() ?? now(), now() - MAX_DRAFT_IDLE_MS);
      for (const name of await readdir(tmp)) {
        const info = await stat(join(tmp, name)).catch(() => undefined);
        if (info === undefined || info.mtimeMs >= idleBefore) continue;
        yield { name, sizeBytes: async () => info.size, drop: () => rm(join(tmp, name), { force: true }) };
      }
    },
    list: (prefix) => listFiles(folder, '', prefix),
    async presign(key, options) {
      assertObjectKey(key);
      return signer.sign(key, options);
    },
    maxLinkTtlMs: null,
    links: signer,
    async close() {},
  };
}

/** Reads a part of a file at once: streams cost several times as much, and these reads come by the thousand. */
async function readRange(path: string, { start, end }: { start: number; end?: number }): Promise<Buffer> {
  const file = await open(path);
  try {
    const last = end ?? (await file.stat()).size - 1;
    const bytes = Buffer.allocUnsafe(Math.max(0, last - start + 1));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}

/** Moves a file into its folder, which usually exists. */
async function moveTo(path: string, target: string): Promise<void> {
  try {
    await rename(path, target);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await mkdir(dirname(target), { recursive: true });
    await rename(path, target);
  }
}

/** Visits only the folders that can hold keys with that prefix, in code unit order of the whole keys. */
async function* listFiles(root: string, folder: string, prefix: string): AsyncIterable<string> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  // A folder sorts as its keys do: with a slash after its name.
  const names = entries
    .filter((entry) => !entry.name.startsWith('.'))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort();
  for (const name of names) {
    const key = `${folder}${name}`;
    if (!key.startsWith(prefix) && !prefix.startsWith(key)) continue;
    if (name.endsWith('/')) yield* listFiles(root, key, prefix);
    else if (key.startsWith(prefix)) yield key;
  }
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');
}

function throwMissing(error: unknown, key: string): never {
  throw isMissing(error) ? new ObjectMissingError(key) : error;
}

const SIZE_BYTES = 32;

/**
 * The key that signs a folder's links. It is created atomically by the first process and never changes: links outlive
 * restarts and any process on the folder can check them.
 */
async function readSigningKey(folder: string): Promise<Buffer> {
  const path = join(folder, '.signing-key');
  const existing = await readIfThere(path);
  if (existing !== undefined) return checked(existing, path);
  const draft = join(folder, '.tmp', randomUUID());
  await writeDurably(draft, randomBytes(SIZE_BYTES), 0o600);
  try {
    // Unlike rename, link fails if another process has created the key meanwhile.
    await link(draft, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return checked(await readFile(path), path);
}

function checked(key: Buffer, path: string): Buffer {
  if (key.length !== SIZE_BYTES) throw new Error(`${path} is damaged: expected ${SIZE_BYTES} bytes`);
  return key;
}
