import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import {
  type ArchiveEntry,
  type ArchiveMember,
  type ArchiveOptions,
  BLOCK_BYTES,
  END_BYTES,
  endOfTar,
  tarBlocks,
  tarHeader,
  writePlainHeader,
} from './tar-blocks.ts';

const DEFAULT_LEVEL = 6;
/** The operating system's byte in the gzip header, which zlib fills in; 255 means "unknown". */
const OPERATING_SYSTEM_AT = 9;

/** Archives files, in the order given, as one gzip member, with fixed times, modes and owners. */
export async function gzipMember(
  entries: readonly ArchiveEntry[],
  options: ArchiveOptions = {},
): Promise<ArchiveMember> {
  const files = entries.map(({ path, bytes, contentType }) => ({
    path,
    size: bytes.byteLength,
    sha256: hash('sha256', bytes),
    contentType,
  }));
  return { bytes: await gzipBlocks(await tarBlocks(entries), options), files };
}

/** The last member of every archive: two zero blocks. */
export async function trailerMember(): Promise<Uint8Array> {
  return gzipBlocks(endOfTar());
}

/** Compresses the blocks of a tar file as one gzip member. */
async function gzipBlocks(blocks: Uint8Array, { level = DEFAULT_LEVEL }: ArchiveOptions = {}): Promise<Buffer> {
  const bytes = await compressAtOnce(blocks, level);
  bytes[OPERATING_SYSTEM_AT] = 255;
  return bytes;
}

/** Gives the same bytes as Node's `gzip`, which calls zlib's threads once more, for the end. */
function compressAtOnce(bytes: Uint8Array, level: number): Promise<Buffer> {
  const gzip = createGzip({ level, flush: constants.Z_FINISH });
  const compressed: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => compressed.push(chunk));
  return new Promise((resolve, reject) => {
    gzip.on('error', reject);
    gzip.write(bytes, (error) => {
      if (error) reject(error);
      else resolve(Buffer.concat(compressed));
      // Closed within this callback, the stream would create an error that is never read, with its stack.
      process.nextTick(() => gzip.close());
    });
  });
}

/**
 * A piece of the archive for one file whose size is unknown until its end. The header contains the size, so it is a
 * separate gzip member, made last. Only the compressed bytes are held in memory. `path` is plain (`isPlain`).
 */
export async function measuredMember(
  { path, source }: { path: string; source: AsyncIterable<Buffer> },
  { level }: { level: number },
): Promise<Buffer[]> {
  let sizeBytes = 0;

  async function* wholeBlocks(): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      sizeBytes += chunk.length;
      yield chunk;
    }
    const lastBytes = sizeBytes % BLOCK_BYTES;
    if (lastBytes > 0) yield Buffer.alloc(BLOCK_BYTES - lastBytes);
  }

  const gzip = createGzip({ level });
  const compressed = pipeline(Readable.from(wholeBlocks()), gzip);
  // The failure reaches the reader of the compressed bytes.
  compressed.catch((error: Error) => gzip.destroy(error));
  const body: Buffer[] = [];
  for await (const chunk of withoutSystem(gzip)) body.push(chunk);
  await compressed;
  const header = Buffer.alloc(BLOCK_BYTES);
  writePlainHeader(header, path, sizeBytes);
  return [await gzipBlocks(header, { level }), ...body];
}

/** Drops the end of the archive, which only the last piece may have. */
async function* withoutEnd(chunks: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (!Buffer.isBuffer(chunk)) continue;
    const all = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const keep = Math.min(END_BYTES, all.length);
    if (all.length > keep) yield all.subarray(0, all.length - keep);
    held = all.subarray(all.length - keep);
  }
}

/** Sets the gzip header's byte for the operating system to 255 (unknown), so all machines write the same bytes. */
async function* withoutSystem(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let seen = 0;
  for await (const chunk of chunks) {
    const at = 9 - seen;
    if (at >= 0 && at < chunk.length) chunk[at] = 255;
    seen += chunk.length;
    yield chunk;
  }
}

/**
 * A piece of the archive for one file that is streamed. Fails if the source fails, or if its size isn't the given one.
 */
export async function* streamedMember(
  { path, sizeBytes, source }: { path: string; sizeBytes: number; source: Readable },
  { level }: { level: number },
): AsyncGenerator<Buffer> {
  const tar = pack();
  const gzip = createGzip({ level });
  const filled = pipeline(source, tar.entry(tarHeader(path, sizeBytes))).then(() => tar.finalize());
  const compressed = pipeline(Readable.from(withoutEnd(tar)), gzip);
  // The failure reaches the reader of the compressed bytes.
  filled.catch((error: Error) => gzip.destroy(error));
  compressed.catch((error: Error) => gzip.destroy(error));
  yield* withoutSystem(gzip);
  await Promise.all([filled, compressed]);
}
