import { randomUUID } from 'node:crypto';
import type { SettledUrl } from '../crawl-records.ts';
import { parseResources } from '../document/extract.ts';
import { segmentKey } from '../object-keys.ts';
import { encodeLinks, type FileLinks } from '../reuse/link-tables.ts';
import type { SegmentStore } from '../segments/segment-store.ts';
import { isUnplaced, type Visited } from './visited.ts';

/** Bytes a result will take in a segment. */
export function unplacedBytes(result: Visited['result']): number {
  return isUnplaced(result) ? result.bytes.length + result.extraction.length : 0;
}

/**
 * Stores the bodies of a group of results as one object, each followed by its extraction and all by the table of what
 * they link to, and says for each where it is. One large write instead of many small ones is what disks and S3 are good
 * at.
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
      // A wrong guess tells the frontier of none of its links, but may turn out to be a page.
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
  // Even where it is empty: that it is there tells that this file's release read the bodies, not an older one.
  const table = encodeLinks(links);
  await segments.write(objectKey, [...parts, table]);
  const place = { linksOffset: byteOffset, linksLength: table.length };
  return settled.map((each) =>
    each.outcome === 'file' && each.objectKey === objectKey ? { ...each, ...place } : each,
  );
}
