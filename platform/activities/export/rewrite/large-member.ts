import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { BundleFile } from '../../../../contract/bundle.ts';
import type { ObjectStore } from '../../../objects/object-store.ts';
import type { BatchFileRow } from '../../../store/frontier-map.ts';
import { END_BYTES, tarHeader } from '../archive/tar-blocks.ts';

/** Holds back the end of the archive, which only the last piece may have. */
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

/** The gzip header's tenth byte names the system that wrote it; 255 stands for any, so all machines write the same. */
async function* withoutSystem(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let seen = 0;
  for await (const chunk of chunks) {
    const at = 9 - seen;
    if (at >= 0 && at < chunk.length) chunk[at] = 255;
    seen += chunk.length;
    yield chunk;
  }
}

/** Makes a piece of the archive of one file that is too large for memory: the bytes pass through as a stream. */
export async function storeLargeMember(
  objects: ObjectStore,
  objectKey: string,
  { path, contentType, byteLength, objectKey: sourceKey }: BatchFileRow,
  { gzipLevel }: { gzipLevel: number },
): Promise<{ file: BundleFile; sizeBytes: number }> {
  const hash = createHash('sha256');
  const source = await objects.get(sourceKey);
  source.on('data', (chunk: Buffer) => hash.update(chunk));
  source.pause();
  const tar = pack();
  const entry = tar.entry(tarHeader(path, byteLength));
  const filled = pipeline(source, entry).then(() => tar.finalize());
  const gzip = createGzip({ level: gzipLevel });
  const compressed = pipeline(Readable.from(withoutEnd(tar)), gzip);
  const stored = objects.put(objectKey, Readable.from(withoutSystem(gzip)), { contentType: 'application/gzip' });
  const [{ sizeBytes }] = await Promise.all([stored, filled, compressed]);
  return { file: { path, size: byteLength, sha256: hash.digest('hex'), contentType }, sizeBytes };
}
