import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { SettledUrl, UnplacedFile, Visited } from '../crawl-records.ts';
import { parseResources } from '../document/extract.ts';
import { largeObjectKey, segmentKey } from '../object-keys.ts';
import type { ExportObjects } from '../ports.ts';
import { encodeLinks, type FileLinks } from '../reuse/link-tables.ts';
import type { SegmentBuffers, SegmentStore } from '../store/segment-store.ts';

export function isUnplaced(result: Visited['result']): result is UnplacedFile {
  return result.outcome === 'file' && 'bytes' in result;
}

export type GatheredBytes = {
  /** Copies the result's bytes into our buffers, so that its own memory is free at once. */
  keep(visited: Visited): Visited;
  /** Releases the buffers, once the kept bytes are no longer needed. */
  giveBack(): void;
};

const BUFFER_BYTES = 1024 * 1024;

/** Holds the bytes of results that wait for their group in a few reusable buffers. Larger results aren't copied. */
export function gatherBytes(buffers: SegmentBuffers): GatheredBytes {
  const used: Buffer[] = [];
  let filled = 0;

  function copy(bytes: Uint8Array): Uint8Array {
    let buffer = used.at(-1);
    if (buffer === undefined || buffer.length - filled < bytes.length) {
      buffer = buffers.take(BUFFER_BYTES);
      used.push(buffer);
      filled = 0;
    }
    const own = buffer.subarray(filled, filled + bytes.length);
    own.set(bytes);
    filled += bytes.length;
    return own;
  }

  return {
    keep(visited) {
      const { result } = visited;
      if (!isUnplaced(result)) return visited;
      const { bytes, extraction } = result;
      if (bytes.length > BUFFER_BYTES || extraction.length > BUFFER_BYTES) return visited;
      return { ...visited, result: { ...result, bytes: copy(bytes), extraction: copy(extraction) } };
    },
    giveBack() {
      for (const buffer of used.splice(0)) buffers.giveBack(buffer);
    },
  };
}

/** The bytes that a result takes in a segment. */
export function unplacedBytes(result: Visited['result']): number {
  return isUnplaced(result) ? result.bytes.length + result.extraction.length : 0;
}

/**
 * Stores the bodies of a group of results as one object, each followed by its extraction, and the group's link table at
 * the end. Returns their positions. Disks and S3 handle one large write better than many small ones.
 *
 * @param keepsLinks false: no link table, because no later export reuses this one
 */
export async function placeFiles(
  segments: SegmentStore,
  jobId: string,
  group: readonly Visited[],
  { keepsLinks }: { keepsLinks: boolean },
): Promise<SettledUrl[]> {
  const objectKey = segmentKey(jobId, randomUUID());
  const parts: Uint8Array[] = [];
  const links: FileLinks[] = [];
  let byteOffset = 0;
  const settled = group.map(({ result, resources }): SettledUrl => {
    if (!isUnplaced(result)) return result;
    const { bytes, extraction, ...file } = result;
    parts.push(bytes, extraction);
    if (keepsLinks && extraction.length > 0) {
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
  if (parts.length === 0) return settled;
  if (!keepsLinks) {
    if (byteOffset > 0) await segments.write(objectKey, parts);
    return settled;
  }
  // Also if all files are empty: a later export that reuses this one looks for the object.
  const table = encodeLinks(links);
  await segments.write(objectKey, [...parts, table]);
  const place = { linksOffset: byteOffset, linksLength: table.length };
  return settled.map((each) =>
    each.outcome === 'file' && each.objectKey === objectKey ? { ...each, ...place } : each,
  );
}

export type LargeBody = { objectKey: string; byteLength: number; sha256: string };

/** Streams a body that is too large for memory into its own object. */
export async function storeLarge(
  objects: ExportObjects,
  {
    jobId,
    body,
    contentType,
    onStored,
  }: {
    jobId: string;
    body: AsyncIterable<Buffer>;
    contentType: string;
    /** Called with the length so far; if it throws, storing stops. */
    onStored: (bytes: number) => void;
  },
): Promise<LargeBody> {
  const hash = createHash('sha256');
  let byteLength = 0;
  const counted = async function* () {
    for await (const chunk of body) {
      hash.update(chunk);
      byteLength += chunk.length;
      onStored(byteLength);
      yield chunk;
    }
  };
  const objectKey = largeObjectKey(jobId, randomUUID());
  await objects.put(objectKey, Readable.from(counted()), { contentType });
  return { objectKey, byteLength, sha256: hash.digest('hex') };
}
