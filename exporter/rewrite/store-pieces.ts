import type { Logger } from 'pino';
import type { BundleFile } from '../../contract/bundle.ts';
import type { MadeBatch } from '../crawl-records.ts';
import type { ObjectStore } from '../ports.ts';
import type { PreviousPiece } from '../reuse/previous-pieces.ts';
import type { StoredPiece } from '../reuse/stored-piece.ts';
import { type Extent, joinExtents } from '../segments/segment-store.ts';
import { createBrokenLinks } from './broken-links.ts';
import type { MadePiece } from './make-piece.ts';

/** A piece of a batch: reused from the previous export, or made and not stored yet. */
export type Piece = { key: string } & ({ known: PreviousPiece } | { made: MadePiece });

/** Stores the new pieces and returns the whole batch: where its bytes are and what they contain. */
export async function storePieces(
  { objects, logger }: { objects: ObjectStore; logger: Logger },
  objectKey: string,
  pieces: readonly Piece[],
): Promise<Omit<MadeBatch, 'number' | 'pageCount'>> {
  const broken = createBrokenLinks();
  const files: BundleFile[] = [];
  const stored: StoredPiece[] = [];
  const parts: Extent[] = [];
  const bytes: Uint8Array[] = [];
  let byteOffset = 0;
  for (const piece of pieces) {
    if ('known' in piece) {
      files.push(...piece.known.files);
      stored.push({ ...piece.known.stored, reused: true });
      parts.push(piece.known.extent);
      broken.merge(piece.known.stored.broken ?? {});
      continue;
    }
    const { made, key } = piece;
    files.push(...made.files);
    const own = createBrokenLinks();
    for (const { url, referrer } of made.broken) own.add(url, referrer);
    const ownBroken = own.toObject();
    broken.merge(ownBroken);
    const summary = { key, sizeBytes: made.bytes.length, fileCount: made.files.length };
    stored.push(made.broken.length === 0 ? summary : { ...summary, broken: ownBroken });
    for (const failure of made.failures) {
      logger.error(failure, 'A document could not be rewritten; its links stay as they are');
    }
    parts.push({ objectKey, byteOffset, byteLength: made.bytes.length });
    byteOffset += made.bytes.length;
    bytes.push(made.bytes);
  }
  const isWhole = parts.every((part) => part.objectKey === objectKey);
  const contentType = 'application/gzip';
  if (byteOffset > 0) await objects.put(objectKey, Buffer.concat(bytes), { contentType, sizeBytes: byteOffset });
  return {
    objectKey: isWhole ? objectKey : null,
    storedBytes: byteOffset,
    sizeBytes: parts.reduce((sum, part) => sum + part.byteLength, 0),
    filesJson: JSON.stringify(files),
    brokenJson: JSON.stringify(broken.toObject()),
    piecesJson: JSON.stringify(stored),
    partsJson: isWhole ? null : JSON.stringify(joinExtents(parts)),
  };
}
