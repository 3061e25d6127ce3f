import { hash } from 'node:crypto';
import type { BatchFileRow } from '../crawl-records.ts';

/** One gzip member of a batch, as stored with the batch (`crawl_batches.pieces_json`), in the archive's order. */
export type StoredPiece = {
  /** The `pieceKey` of its source files. */
  key: string;
  sizeBytes: number;
  fileCount: number;
  /** The broken links of its files, with some of their referrers; omitted if there are none. */
  broken?: Record<string, string[]>;
  /** Reused from the previous export. */
  reused?: true;
};

/** Equal for pieces of the same files: same fetched bytes, URLs, paths, and withheld siblings (`withheldSiblings`). */
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
