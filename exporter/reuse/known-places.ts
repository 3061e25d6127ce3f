import type { Crawl } from '../crawl-records.ts';
import { trailerMember } from '../pack/archive/members.ts';
import type { CrawlStore } from '../ports.ts';
import type { Extent } from '../segments/segment-store.ts';
import { parsePieces, type StoredPiece } from './stored-piece.ts';

/** Where a piece lies, and which files of its batch it holds. */
export type Place = { stored: StoredPiece; extent: Extent; batch: number; firstFile: number };
export type KnownPlaces = ReadonlyMap<string, Place>;

/**
 * The places of all pieces in the archive that a kept crawl was packed into. They are told by sizes alone, so all must
 * add up: undefined where a batch or the archive was made by a worker that told less than this one would.
 */
export async function readPlaces(
  store: CrawlStore,
  base: Crawl,
  { objectKey, sizeBytes }: { objectKey: string; sizeBytes: number },
): Promise<KnownPlaces | undefined> {
  if (base.archiveHeadBytes === null) return undefined;
  const places = new Map<string, Place>();
  let byteOffset = base.archiveHeadBytes;
  for await (const batch of store.keptBatches(base.jobId)) {
    if (batch.piecesJson === null || batch.sizeBytes === null) return undefined;
    const endOffset = byteOffset + batch.sizeBytes;
    let firstFile = 0;
    for (const stored of parsePieces(batch.piecesJson)) {
      const extent = { objectKey, byteOffset, byteLength: stored.sizeBytes };
      places.set(stored.key, { stored, extent, batch: batch.number, firstFile });
      byteOffset += stored.sizeBytes;
      firstFile += stored.fileCount;
    }
    if (byteOffset !== endOffset) return undefined;
  }
  return byteOffset + (await trailerMember()).length === sizeBytes ? places : undefined;
}
