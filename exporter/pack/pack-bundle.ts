import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { MANIFEST_PATH } from '../../contract/bundle.ts';
import type { PackedArchive } from '../crawl-records.ts';
import { bundleKey } from '../object-keys.ts';
import type { ObjectStore } from '../ports.ts';
import { measuredMember } from './archive/measured-member.ts';
import { trailerMember } from './archive/members.ts';
import type { BundleOutline } from './manifest.ts';
import { readExtents } from './read-extents.ts';

/**
 * Streams the archive: manifest, members, trailer. Its key needs the hash of all bytes, so the members are read twice,
 * which costs less than writing the archive twice. Of the manifest only the compressed bytes are held.
 */
export async function packBundle(
  objects: ObjectStore,
  { manifest, members }: Pick<BundleOutline, 'manifest' | 'members'>,
  options: { gzipLevel: number; onBytes: (bytes: number) => void; signal: AbortSignal },
): Promise<PackedArchive> {
  const head = await measuredMember({ path: MANIFEST_PATH, source: manifest() }, { level: options.gzipLevel });
  const headBytes = head.reduce((sum, { length }) => sum + length, 0);
  const tail = Buffer.from(await trailerMember());

  const extents = members.filter(({ byteLength }) => byteLength > 0);

  async function* archive(): AsyncGenerator<Buffer> {
    yield* head;
    for await (const chunk of readExtents(objects, extents)) {
      options.signal.throwIfAborted();
      options.onBytes(chunk.length);
      yield chunk;
    }
    yield tail;
  }

  const hash = createHash('sha256');
  let archiveSizeBytes = 0;
  for await (const chunk of archive()) {
    hash.update(chunk);
    archiveSizeBytes += chunk.length;
  }
  const archiveSha256 = hash.digest('hex');
  const archiveKey = bundleKey(archiveSha256);
  await objects.put(archiveKey, Readable.from(archive()), {
    contentType: 'application/gzip',
    sizeBytes: archiveSizeBytes,
  });
  return { archiveKey, archiveSha256, archiveSizeBytes, headBytes };
}
