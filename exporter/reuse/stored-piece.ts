import { hash } from 'node:crypto';
import type { BatchFileRow } from '../crawl-records.ts';

/** One gzip member of a batch, as it is stored with the batch (`crawl_batches.pieces_json`), in the archive's order. */
export type StoredPiece = {
  /** Of the files it was made from (`pieceKey`). */
  key: string;
  sizeBytes: number;
  fileCount: number;
  /** What its files refer to in vain, with some of their referrers; absent where there is nothing. */
  broken?: Record<string, string[]>;
  /** Taken over from the export before. */
  reused?: true;
};

/**
 * Equal for pieces of the same files, bytes as fetched, under the same addresses and paths, and with the same siblings
 * withheld (`withheldSiblings`).
 */
export function pieceKey(files: readonly BatchFileRow[], withheld: readonly string[]): string {
  const parts = files.map(({ path, url, contentType, isPage, sha256 }) =>
    JSON.stringify([path, url, contentType, isPage, sha256]),
  );
  if (withheld.length > 0) parts.push(JSON.stringify(withheld));
  return hash('sha256', parts.join('')).slice(0, 32);
}

export function parsePieces(json: string): StoredPiece[] {
  return JSON.parse(json);
}
