import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { gzipBlocks } from './members.ts';
import { BLOCK_BYTES, writePlainHeader } from './plain-header.ts';
import { withoutSystem } from './streamed-member.ts';

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
