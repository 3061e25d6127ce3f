import { randomUUID } from 'node:crypto';
import type { SettledUrl } from '../crawl-records.ts';
import { parseResources } from '../document/extract.ts';
import { segmentKey } from '../object-keys.ts';
import { encodeLinks, type FileLinks } from '../reuse/link-tables.ts';
import type { SegmentStore } from '../segments/segment-store.ts';
import { isUnplaced, type Visited } from './visited.ts';

/** The bytes that a result takes in a segment. */
export function unplacedBytes(result: Visited['result']): number {
  return isUnplaced(result) ? result.bytes.length + result.extraction.length : 0;
}

/**
 * Stores the bodies of a group of results as one object, each followed by its extraction, and the group's link table at
 * the end. Returns their positions. Disks and S3 handle one large write better than many small ones.
 */
export async function placeFiles(
  segments: SegmentStore,
  jobId: string,
  group: readonly Visited[],
): Promise<SettledUrl[]> {
  const objectKey = segmentKey(jobId, randomUUID());
  const parts: Uint8Array[] = [];
  const links: FileLinks[] = [];
  let byteOffset = 0;
  const settled = group.map(({ result, resources }): SettledUrl => {
    if (!isUnplaced(result)) return result;
    const { bytes, extraction, ...file } = result;
    parts.push(bytes, extraction);
    if (extraction.length > 0) {
      // The links of a wrong guess aren't enqueued, but it may turn out to be a page.
      links.push({ byteOffset, resources: resources.length > 0 ? resources : parseResources(extraction) });
    }
    const storedBytes = bytes.length + extraction.length;
    const placed = {
      ...file,
      storedBytes,
      objectKey,
      byteOffset,
      byteLength: bytes.length,
      extractionLength: extraction.length,
    };
    byteOffset += bytes.length + extraction.length;
    return placed;
  });
  if (byteOffset === 0) return settled;
  // Written even if empty: it shows that this release, not an older one, read the bodies.
  const table = encodeLinks(links);
  await segments.write(objectKey, [...parts, table]);
  const place = { linksOffset: byteOffset, linksLength: table.length };
  return settled.map((each) =>
    each.outcome === 'file' && each.objectKey === objectKey ? { ...each, ...place } : each,
  );
}
