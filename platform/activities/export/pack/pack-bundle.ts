import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { BundleManifest } from '../../../../contract/bundle.ts';
import { bundleKey, type ObjectStore } from '../../../objects/object-store.ts';
import { manifestMember, trailerMember } from '../archive/members.ts';
import type { Extent } from '../segment-store.ts';

export type PackedArchive = {
  archiveKey: string;
  archiveSha256: string;
  archiveSizeBytes: number;
  /** Where the first member after the manifest's begins. */
  headBytes: number;
};

/**
 * Writes the archive: manifest, members, trailer, one after another as a stream. The key needs the hash of the whole,
 * so the members are read twice, which costs less than writing the archive twice would.
 */
export async function packBundle(
  objects: ObjectStore,
  manifest: BundleManifest,
  members: readonly Extent[],
  options: { gzipLevel: number; onBytes: (bytes: number) => void; signal: AbortSignal },
): Promise<PackedArchive> {
  const head = Buffer.from(await manifestMember(manifest, { level: options.gzipLevel }));
  const tail = Buffer.from(await trailerMember());

  async function* archive(): AsyncGenerator<Buffer> {
    yield head;
    for (const { objectKey, byteOffset, byteLength } of members) {
      if (byteLength === 0) continue;
      for await (const chunk of await objects.get(objectKey, { start: byteOffset, end: byteOffset + byteLength - 1 })) {
        options.signal.throwIfAborted();
        options.onBytes(chunk.length);
        yield chunk;
      }
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
  return { archiveKey, archiveSha256, archiveSizeBytes, headBytes: head.length };
}
