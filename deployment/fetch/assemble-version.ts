import { join } from 'node:path';
import { forEachToItsEnd } from '../../base/for-each-to-its-end.ts';
import { fetchMembers, type MemberRange, planRanges, sizeOfRanges } from '../../bundle/fetch/members.ts';
import type { PartialSource } from '../../bundle/fetch/partial-source.ts';
import type { BundleFile, BundleManifest } from '../../contract/bundle.ts';
import type { StoredVersion } from './stored-version.ts';
import type { TreeWriter } from './tree-writer.ts';

/** Files on the disk that are checked and linked at once. */
const ADOPTED_AT_ONCE = 64;

/** If more of the archive than this is needed, one request for all of it is faster. */
const MAX_SHARE = 1 / 2;

type Assembly = {
  /** An archive whose head is checked. */
  source: PartialSource;
  manifest: BundleManifest;
  /** Versions on the disk whose files are reused. The caller holds them. */
  versions: readonly StoredVersion[];
  writer: TreeWriter;
  signal: AbortSignal;
  onProgress(receivedBytes: number, totalBytes: number): void;
};

type Assembled = { fetchedBytes: number; fetchedFiles: number };

/**
 * Assembles a version: links unchanged files from the disk and fetches the members of the others. Every file is checked
 * against the manifest. Returns undefined if one request for the whole archive is better; then some files may be
 * written already.
 * @throws BundleUnavailableError, BundleInvalidError
 */
export async function assembleVersion(assembly: Assembly): Promise<Assembled | undefined> {
  const { source, manifest, versions, writer } = assembly;
  const onDisk = new Map<string, FileOnDisk>();
  for (const { root, storedAtMs, manifest: known } of versions) {
    for (const { path, sha256 } of known.files) onDisk.set(sha256, { path: join(root, path), storedAtMs });
  }
  const changed = manifest.files.filter(({ sha256 }) => !onDisk.has(sha256));
  const ranges = planParts(assembly, changed);
  if (ranges === undefined) return undefined;
  // One waits for the network, the other for the disk. Both end before this throws.
  const received: Received = { bytes: source.headBytes, totalBytes: source.headBytes };
  const [fetched, adopted] = await Promise.allSettled([
    fetchRanges(assembly, received, { needed: changed, ranges }),
    adoptFiles(assembly, onDisk),
  ]);
  if (fetched.status === 'rejected') throw fetched.reason;
  if (adopted.status === 'rejected') throw adopted.reason;
  const damaged = adopted.value;
  const moreRanges = damaged.length === 0 ? [] : planParts(assembly, damaged);
  if (moreRanges === undefined) return undefined;
  await fetchRanges(assembly, received, { needed: damaged, ranges: moreRanges });
  await writer.finish(source.head);
  return { fetchedBytes: received.bytes, fetchedFiles: changed.length + damaged.length };
}

/** `storedAtMs` is that of its version. */
type FileOnDisk = { path: string; storedAtMs: number };

/** Links what is on the disk, and returns the files that aren't as they were written. */
async function adoptFiles(
  { manifest, writer, signal }: Assembly,
  onDisk: ReadonlyMap<string, FileOnDisk>,
): Promise<BundleFile[]> {
  const damaged: BundleFile[] = [];
  await forEachToItsEnd(manifest.files, ADOPTED_AT_ONCE, async (file) => {
    signal.throwIfAborted();
    const found = onDisk.get(file.sha256);
    if (found === undefined || (await writer.adopt(file, found.path, found.storedAtMs))) return;
    damaged.push(file);
  });
  return damaged;
}

/** Undefined if one request for the whole archive is better. */
function planParts({ source, manifest }: Assembly, needed: readonly BundleFile[]): MemberRange[] | undefined {
  const ranges = planRanges(needed, manifest);
  return ranges !== undefined && sizeOfRanges(ranges) <= source.archiveBytes * MAX_SHARE ? ranges : undefined;
}

/** The bytes of the archive received so far, and the total when the begun rounds end. */
type Received = { bytes: number; totalBytes: number };

type Round = { needed: readonly BundleFile[]; ranges: readonly MemberRange[] };

async function fetchRanges(assembly: Assembly, received: Received, round: Round): Promise<void> {
  const { source, writer, signal } = assembly;
  received.totalBytes += sizeOfRanges(round.ranges);
  const onBytes = (bytes: number): void => {
    received.bytes += bytes;
    assembly.onProgress(received.bytes, received.totalBytes);
  };
  await fetchMembers(source, { ...round, onFile: writer.write, onBytes, signal });
}
