import type { BundleManifest } from '../../../../contract/bundle.ts';
import type { ArchiveEntry, ArchiveMember, ArchiveOptions } from './types.ts';

/** Archives files, in the order given, as one gzip member, with fixed times, modes and owners. */
export async function gzipMember(
  _entries: readonly ArchiveEntry[],
  _options: ArchiveOptions = {},
): Promise<ArchiveMember> {
  throw new Error('not built yet');
}

/** The member that every archive begins with: `.galley/manifest.json`. */
export async function manifestMember(_manifest: BundleManifest, _options: ArchiveOptions = {}): Promise<Uint8Array> {
  throw new Error('not built yet');
}

/** The member that every archive ends with: the two zero blocks. */
export async function trailerMember(): Promise<Uint8Array> {
  throw new Error('not built yet');
}
