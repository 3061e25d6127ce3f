import { createReadStream } from 'node:fs';
import { NoManifestError } from './errors.ts';
import { computeManifest } from './foreign-bundle.ts';
import type { BundleLimits } from './manifest.ts';
import { type Head, readBundle, readBundleHead } from './read-bundle.ts';

/**
 * Reads the head of an archive on the disk, ours or another service's. The latter has none: the archive is read to its end,
 * and its manifest computed.
 * @param archive its path, or opens it
 * @throws BundleInvalidError
 */
export async function readArchiveHead(
  archive: string | (() => AsyncIterable<Buffer>),
  limits: BundleLimits,
  signal?: AbortSignal,
): Promise<Head> {
  const open = typeof archive === 'string' ? () => bytesAt(archive) : archive;
  try {
    return await readBundleHead(open());
  } catch (error) {
    if (!(error instanceof NoManifestError)) throw error;
    return await computeManifest(open(), limits, signal);
  }
}

/** Reads an archive on the disk whose head is known, as `readBundle` does. */
export async function readArchive(
  archive: string,
  head: Head,
  reading: Omit<Parameters<typeof readBundle>[1], 'computed'>,
): ReturnType<typeof readBundle> {
  const computed = head.pathOf === undefined ? undefined : head;
  return await readBundle(bytesAt(archive), { ...reading, computed });
}

/** Opens the file on the first read: an unread stream would stay open, and its error would end the process. */
async function* bytesAt(archive: string): AsyncGenerator<Buffer> {
  yield* createReadStream(archive);
}
