import { createReadStream } from 'node:fs';
import { BundleInvalidError } from '../../../bundle/errors.ts';
import { checkManifest, NO_LIMITS } from '../../../bundle/manifest.ts';
import { checkedContent, readBundle } from '../../../bundle/read-bundle.ts';
import type { BundleFile, BundleManifest } from '../../../contract/bundle.ts';

type Reader = {
  /** Called with the checked manifest, before any file. */
  onManifest(manifest: BundleManifest): void;
  /** Gets each file. Its content, if it is read, throws at the end if size or hash differ from the manifest. */
  onFile(file: BundleFile, content: AsyncIterable<Buffer>): Promise<void>;
};

/**
 * Reads a downloaded archive from the start to the end. Returns its manifest once every file that it names was there.
 * Throws an error that says what is wrong with the archive.
 */
export async function readArchive(archive: string, reader: Reader, signal: AbortSignal): Promise<BundleManifest> {
  try {
    const { manifest } = await readBundle(createReadStream(archive), {
      onHead(head) {
        const checked = checkManifest(head.manifest, NO_LIMITS);
        reader.onManifest(checked);
        return checked;
      },
      onFile: (file, content) => reader.onFile(file, checkedContent(file, content)),
      signal,
    });
    return manifest;
  } catch (error) {
    if (error instanceof BundleInvalidError) throw new Error(`the archive is no valid bundle: ${error.message}`);
    throw error;
  }
}
