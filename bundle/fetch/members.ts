import { forEachToItsEnd } from '../../base/for-each-to-its-end.ts';
import type { BundleFile, BundleManifest } from '../../contract/bundle.ts';
import { BundleInvalidError, quoted } from '../errors.ts';
import { readMembers } from '../read-bundle.ts';
import type { PartialSource } from './partial-source.ts';

/** Requests at once: more would only share the same line. */
const REQUESTS_AT_ONCE = 4;

/** Bytes of members that aren't needed cost less than a further request. */
const MAX_GAP_BYTES = 2 * 1024;

/** A larger range would keep the other requests waiting for its end. */
const MAX_RANGE_BYTES = 4 * 1024 * 1024;

/** Whole members that follow one another. Offsets count from the end of the archive's head; `end` is excluded. */
export type MemberRange = {
  start: number;
  end: number;
  /** All files in these members, needed or not. */
  files: BundleFile[];
};

/**
 * The ranges that contain the needed files, in the order of the archive. Undefined if the manifest doesn't say where the
 * files are.
 */
export function planRanges(needed: readonly BundleFile[], manifest: BundleManifest): MemberRange[] | undefined {
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

/** How many bytes of the archive the ranges are. */
export function sizeOfRanges(ranges: readonly MemberRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

type FetchOptions = {
  /** The ranges that `planRanges` returned for these files. */
  needed: readonly BundleFile[];
  ranges: readonly MemberRange[];
  /** Gets each needed file once, in any order. It must read and check the content. */
  onFile(this: void, file: BundleFile, content: AsyncIterable<Buffer>): Promise<void>;
  onBytes?(bytes: number): void;
  signal: AbortSignal;
};

/** @throws BundleUnavailableError, BundleInvalidError; errors of `onFile` unchanged */
export async function fetchMembers(source: PartialSource, options: FetchOptions): Promise<void> {
  const { needed, ranges, onFile, onBytes, signal } = options;
  const missing = new Map(needed.map((file) => [file.path, file]));
  await forEachToItsEnd(ranges, REQUESTS_AT_ONCE, async ({ start, end, files }) => {
    const body = await source.read(source.headBytes + start, source.headBytes + end);
    await readMembers(counted(body, onBytes), files, { missing, onFile, signal });
  });
  const [absent] = missing.keys();
  if (absent !== undefined) throw new BundleInvalidError(`the file ${quoted(absent)} is not where the manifest says`);
}

async function* counted(body: AsyncIterable<Buffer>, onBytes: FetchOptions['onBytes']): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    onBytes?.(chunk.length);
    yield chunk;
  }
}
