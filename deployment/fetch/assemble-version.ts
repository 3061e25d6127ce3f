import { join } from 'node:path';
import { BundleInvalidError, quoted } from '../../bundle/errors.ts';
import { readMembers } from '../../bundle/read-bundle.ts';
import type { BundleFile, BundleManifest } from '../../contract/bundle.ts';
import type { ServedSite } from '../site.ts';
import type { PartialSource } from './partial-source.ts';
import type { TreeWriter } from './tree-writer.ts';

/** Files on the disk that are checked and linked at once. */
const ADOPTED_AT_ONCE = 64;

/** Requests at once: more would only share the same line. */
const REQUESTS_AT_ONCE = 4;

/** Bytes of members that aren't needed cost less than a further request. */
const MAX_GAP_BYTES = 2 * 1024;

/** A larger range would keep the other requests waiting for its end. */
const MAX_RANGE_BYTES = 4 * 1024 * 1024;

/** If more of the archive than this is needed, one request for all of it is faster. */
const MAX_SHARE = 1 / 2;

type Assembly = {
  /** An archive whose head is checked. */
  source: PartialSource;
  manifest: BundleManifest;
  /** Versions on the disk whose files are reused. The caller holds them. */
  sites: readonly ServedSite[];
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
  const { source, manifest, sites, writer } = assembly;
  const onDisk = new Map<string, FileOnDisk>();
  for (const { root, storedAtMs, manifest: known } of sites) {
    for (const { path, sha256 } of known.files) onDisk.set(sha256, { path: join(root, path), storedAtMs });
  }
  const changed = manifest.files.filter(({ sha256 }) => !onDisk.has(sha256));
  const ranges = planRanges(changed, manifest, source.archiveBytes);
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
  const moreRanges = damaged.length === 0 ? [] : planRanges(damaged, manifest, source.archiveBytes);
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

/**
 * Does the work for each item, `atOnce` at a time. After a failure none is started, and those under way end before it is
 * thrown, so that nothing is written later.
 */
async function forEachToItsEnd<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  // All workers share one generator, which a failure in any of them ends.
  const rest = (function* () {
    yield* items;
  })();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  const workers = Array.from({ length: atOnce }, () => worker().catch((error: unknown) => failures.push(error)));
  await Promise.all(workers);
  // What fails after the first may be its consequence.
  if (failures.length > 0) throw failures[0];
}

/** The bytes of the archive received so far, and the total when the begun rounds end. */
type Received = { bytes: number; totalBytes: number };

type Round = { needed: readonly BundleFile[]; ranges: readonly MemberRange[] };

async function fetchRanges(assembly: Assembly, received: Received, { needed, ranges }: Round): Promise<void> {
  received.totalBytes += ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  const missing = new Map(needed.map((file) => [file.path, file]));
  const onBytes = (bytes: number): void => {
    received.bytes += bytes;
    assembly.onProgress(received.bytes, received.totalBytes);
  };
  await forEachToItsEnd(ranges, REQUESTS_AT_ONCE, (range) => fetchRange(assembly, range, { missing, onBytes }));
  const [absent] = missing.keys();
  if (absent !== undefined) throw new BundleInvalidError(`the file ${quoted(absent)} is not where the manifest says`);
}

type Progress = { missing: Map<string, BundleFile>; onBytes(bytes: number): void };

async function fetchRange(
  { source, writer, signal }: Assembly,
  { start, end, files }: MemberRange,
  { missing, onBytes }: Progress,
): Promise<void> {
  const body = await source.read(source.headBytes + start, source.headBytes + end);
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      onBytes(chunk.length);
      yield chunk;
    }
  }
  await readMembers(counted(), files, { missing, onFile: writer.write, signal });
}

/** Whole members that follow one another. Offsets count from the end of the archive's head; `end` is excluded. */
type MemberRange = {
  start: number;
  end: number;
  /** All files in these members, needed or not. */
  files: BundleFile[];
};

/**
 * The ranges that contain the needed files, in the order of the archive. Undefined if most of the archive would be
 * fetched, or if the manifest doesn't say where the files are.
 */
function planRanges(
  needed: readonly BundleFile[],
  manifest: BundleManifest,
  archiveBytes: number,
): MemberRange[] | undefined {
  const members = new Map<number, number>();
  for (const { offset, length } of needed) {
    if (offset === undefined || length === undefined) return undefined;
    members.set(offset, length);
  }
  const ranges: MemberRange[] = [];
  for (const [start, length] of [...members].sort(([a], [b]) => a - b)) {
    const last = ranges.at(-1);
    const end = start + length;
    if (last !== undefined && start < last.end) return undefined;
    if (last !== undefined && start - last.end <= MAX_GAP_BYTES && end - last.start <= MAX_RANGE_BYTES) last.end = end;
    else ranges.push({ start, end, files: [] });
  }
  const neededBytes = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  if (neededBytes > archiveBytes * MAX_SHARE) return undefined;
  return withFiles(ranges, manifest.files);
}

function withFiles(ranges: MemberRange[], files: readonly BundleFile[]): MemberRange[] {
  const inArchive = files.toSorted((a, b) => (a.offset ?? 0) - (b.offset ?? 0));
  let at = 0;
  for (const file of inArchive) {
    const offset = file.offset ?? 0;
    while (at < ranges.length && offset >= (ranges[at]?.end ?? 0)) at += 1;
    const range = ranges[at];
    if (range !== undefined && offset >= range.start) range.files.push(file);
  }
  return ranges;
}
