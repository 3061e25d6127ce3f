import type { BundleFile } from '../../../contract/bundle.ts';

/** A file to be archived: `path` is relative to the bundle's root, with `/`. */
export type ArchiveEntry = { path: string; bytes: Uint8Array; contentType: string };

/**
 * A piece of the archive: one gzip member. Members concatenated in the order manifest, files, trailer are a valid
 * `.tar.gz`, so pieces can be made separately and streamed one after another.
 */
export type ArchiveMember = { bytes: Uint8Array; files: BundleFile[] };

/** `level` is zlib's, 0 to 9; 6 by default. */
export type ArchiveOptions = { level?: number };
