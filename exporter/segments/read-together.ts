import type { Extent, SegmentStore } from './segment-store.ts';

/** The maximum size of one read, and of an unneeded gap between two parts. */
const MAX_GROUP_BYTES = 1024 * 1024;
const MAX_GAP_BYTES = 16 * 1024;

type Group = Extent & { members: number[] };

/**
 * Reads parts of segments, in the given order. One request reads parts that are close together, as pages crawled
 * together usually are in the bundle too.
 */
export async function readTogether(
  segments: Pick<SegmentStore, 'read'>,
  extents: readonly Extent[],
  segmentsFit: boolean,
): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  await Promise.all(
    groupsOf(extents).map(async ({ members, ...whole }) => {
      const bytes = await segments.read(whole, segmentsFit);
      for (const index of members) {
        const extent = extents[index];
        if (extent === undefined) continue;
        const start = extent.byteOffset - whole.byteOffset;
        parts[index] = bytes.subarray(start, start + extent.byteLength);
      }
    }),
  );
  return parts;
}

function groupsOf(extents: readonly Extent[]): Group[] {
  const inPlace = [...extents.entries()].sort(([, a], [, b]) =>
    a.objectKey === b.objectKey ? a.byteOffset - b.byteOffset : a.objectKey < b.objectKey ? -1 : 1,
  );
  const groups: Group[] = [];
  for (const [index, { objectKey, byteOffset, byteLength }] of inPlace) {
    const last = groups.at(-1);
    const end = byteOffset + byteLength;
    const isNear =
      last?.objectKey === objectKey &&
      byteOffset - (last.byteOffset + last.byteLength) <= MAX_GAP_BYTES &&
      end - last.byteOffset <= MAX_GROUP_BYTES;
    if (isNear) {
      last.byteLength = Math.max(last.byteLength, end - last.byteOffset);
      last.members.push(index);
    } else {
      groups.push({ objectKey, byteOffset, byteLength, members: [index] });
    }
  }
  return groups;
}
