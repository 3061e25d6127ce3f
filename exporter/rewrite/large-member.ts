import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { BundleFile } from '../../contract/bundle.ts';
import type { BatchFileRow } from '../crawl-records.ts';
import { streamedMember } from '../pack/archive/streamed-member.ts';
import type { ObjectStore } from '../ports.ts';

/** Streams one file that is too large for memory into a piece of the archive. */
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
  const member = streamedMember({ path, sizeBytes: byteLength, source }, { level: gzipLevel });
  const { sizeBytes } = await objects.put(objectKey, Readable.from(member), { contentType: 'application/gzip' });
  return { file: { path, size: byteLength, sha256: hash.digest('hex'), contentType }, sizeBytes };
}
