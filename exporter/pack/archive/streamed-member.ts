import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { END_BYTES, tarHeader } from './tar-blocks.ts';

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
export async function* withoutSystem(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
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
