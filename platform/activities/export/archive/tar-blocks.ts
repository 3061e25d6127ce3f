import { pack } from 'tar-stream';
import type { ArchiveEntry } from './types.ts';

/** What ends a tar file; taken off each piece so that pieces can follow one another. */
export const END_BYTES = 1024;

/** Every member's header but for its name and size. */
export function tarHeader(path: string, sizeBytes: number) {
  return { name: path, size: sizeBytes, mode: 0o644, mtime: new Date(0), uid: 0, gid: 0, type: 'file' } as const;
}

/**
 * Files as tar members without the end of the archive. Times, modes and owners are fixed, so equal files make equal
 * bytes; names that are long or not ASCII are written as pax records.
 */
export async function tarBlocks(entries: readonly Pick<ArchiveEntry, 'path' | 'bytes'>[]): Promise<Buffer> {
  const tar = pack();
  for (const { path, bytes } of entries) {
    tar.entry(tarHeader(path, bytes.byteLength), Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  tar.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of tar) if (chunk instanceof Uint8Array) chunks.push(chunk);
  return Buffer.concat(chunks).subarray(0, -END_BYTES);
}

export function endOfTar(): Buffer {
  return Buffer.alloc(END_BYTES);
}
