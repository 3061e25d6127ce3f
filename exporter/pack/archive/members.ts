import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { endOfTar, tarBlocks } from './tar-blocks.ts';
import type { ArchiveEntry, ArchiveMember, ArchiveOptions } from './types.ts';

const DEFAULT_LEVEL = 6;
/** The operating system's byte in the gzip header, which zlib fills in; 255 means "unknown". */
const OPERATING_SYSTEM_AT = 9;

const compress = promisify(gzip);

/** Archives files, in the order given, as one gzip member, with fixed times, modes and owners. */
export async function gzipMember(
  entries: readonly ArchiveEntry[],
  options: ArchiveOptions = {},
): Promise<ArchiveMember> {
  const files = entries.map(({ path, bytes, contentType }) => ({
    path,
    size: bytes.byteLength,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    contentType,
  }));
  return { bytes: await gzipBlocks(await tarBlocks(entries), options), files };
}

/** The last member of every archive: two zero blocks. */
export async function trailerMember(): Promise<Uint8Array> {
  return gzipBlocks(endOfTar());
}

/** Compresses the blocks of a tar file as one gzip member. */
export async function gzipBlocks(blocks: Uint8Array, { level = DEFAULT_LEVEL }: ArchiveOptions = {}): Promise<Buffer> {
  const bytes = await compress(blocks, { level });
  bytes[OPERATING_SYSTEM_AT] = 255;
  return bytes;
}
