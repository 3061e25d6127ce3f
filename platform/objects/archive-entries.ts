import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import tar from 'tar-stream';
import { MANIFEST_PATH } from '../../contract/bundle.ts';
import type { ObjectStore } from './object-store.ts';

type Entry = ReturnType<typeof tar.extract> extends AsyncIterable<infer Entry> ? Entry : never;

/** The files of a stored bundle, in order, and no more of the archive than the caller takes. Throws `ObjectMissingError`. */
export async function* archiveEntries(objects: Pick<ObjectStore, 'get'>, archiveKey: string): AsyncGenerator<Entry> {
  const archive = await objects.get(archiveKey);
  const entries = tar.extract();
  const unpacked = createGunzip();
  archive.on('error', (error) => unpacked.destroy(error));
  unpacked.on('error', (error) => entries.destroy(error));
  archive.pipe(unpacked).pipe(entries);
  try {
    yield* entries;
  } finally {
    for (const stream of [archive, unpacked, entries]) stream.destroy();
  }
}

/**
 * Reads the bytes of a stored bundle's manifest, which is its first file. Throws `ObjectMissingError`, and an error if
 * the archive is no bundle.
 */
export async function readManifest(objects: Pick<ObjectStore, 'get'>, archiveKey: string): Promise<Buffer> {
  for await (const entry of archiveEntries(objects, archiveKey)) {
    if (entry.header.name !== MANIFEST_PATH) break;
    return await buffer(entry);
  }
  throw new Error(`${archiveKey} doesn't begin with ${MANIFEST_PATH}`);
}
