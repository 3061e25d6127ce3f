import { readArchive, readArchiveHead } from '../../bundle/archive-file.ts';
import { type BundleLimits, checkManifest } from '../../bundle/manifest.ts';
import type { BundleManifest } from '../../contract/bundle.ts';
import { checkHead, type Required } from './authenticity.ts';
import { createTreeWriter } from './tree-writer.ts';

type UnpackRequest = {
  archive: string;
  /** An empty folder of our own. */
  folder: string;
  limits: BundleLimits;
  signal: AbortSignal;
  required?: Required;
  /** Called with the checked manifest before any file is written; an error ends the unpacking. */
  accept(manifest: BundleManifest): void;
};

/**
 * Unpacks a bundle into the folder. Returns its manifest once all entries match it and everything is on the disk. Never
 * writes outside the folder or more than the manifest announces.
 * @throws BundleInvalidError naming what is wrong
 */
export async function unpackBundle(request: UnpackRequest): Promise<BundleManifest> {
  const { archive, folder, limits, required = {}, accept, signal } = request;
  const writer = createTreeWriter(folder);
  try {
    const opened = await readArchiveHead(archive, limits, signal);
    const { head, manifest } = await readArchive(archive, opened, {
      onHead(read) {
        checkHead(required, read);
        const checked = checkManifest(read.manifest, limits);
        accept(checked);
        return checked;
      },
      onFile: writer.write,
      signal,
    });
    await writer.finish(head);
    return manifest;
  } catch (error) {
    await writer.abandon();
    signal.throwIfAborted();
    throw error;
  }
}
