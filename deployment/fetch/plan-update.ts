import type { BundleFile, BundleManifest } from '../../contract/bundle.ts';

/** Bytes of members that aren't needed cost less than a further request. */
const MAX_GAP_BYTES = 2 * 1024;

/** A larger range would keep the other requests waiting for its end. */
const MAX_RANGE_BYTES = 4 * 1024 * 1024;

/** If more of the archive than this is needed, one request for all of it is faster. */
const MAX_SHARE = 1 / 2;

/** Whole members that follow one another. Offsets count from the end of the archive's head; `end` is excluded. */
export type MemberRange = {
  start: number;
  end: number;
  /** All files in these members, needed or not. */
  files: BundleFile[];
};

/**
 * The ranges that contain the needed files, in the order of the archive. Undefined if most of the archive would be
 * fetched, or if the manifest doesn't say where the files are.
 */
export function planRanges(
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
