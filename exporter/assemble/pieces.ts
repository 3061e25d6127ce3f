import { hash } from 'node:crypto';
import type { BatchFileRow } from '../crawl-records.ts';
import type { ExportLimits } from '../limits.ts';
import type { SearchLanguage } from '../search/index-messages.ts';
import type { PageAnchors } from './broken-anchors.ts';

export type PieceLimits = Pick<ExportLimits, 'pieceBytes' | 'batchFiles' | 'batchBytes' | 'maxBufferedBytes'>;

const TAR_BLOCK_BYTES = 512;
const UINT32 = 2 ** 32;

/**
 * Hashes a text to a number from 0 to 1, the same on every machine: FNV-1a, then the last mixing step of MurmurHash3.
 */
function unitHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / UINT32;
}

/** The order of files in a bundle: by path, in UTF-16 code units. */
export function byPath(a: { path: string }, b: { path: string }): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}

/**
 * Cuts files, in the bundle's order, into pieces of about `pieceBytes`, each a gzip member of its own. Whether a piece
 * ends after a file depends only on the file's path and size, so that an added, changed or removed file moves only its
 * own cut and all other pieces can be reused. Large files are pieces of their own. A batch's limits also apply to a
 * piece, but few pieces reach them.
 */
export function divideIntoPieces<File extends { path: string; byteLength: number }>(
  files: readonly File[],
  { pieceBytes, batchFiles, batchBytes, maxBufferedBytes }: PieceLimits,
): File[][] {
  const aloneBytes = Math.min(pieceBytes, maxBufferedBytes);
  const pieces: File[][] = [];
  let piece: File[] = [];
  let bytes = 0;
  const cut = (): void => {
    if (piece.length > 0) pieces.push(piece);
    piece = [];
    bytes = 0;
  };
  for (const file of files) {
    const { path, byteLength } = file;
    const isAlone = byteLength > aloneBytes;
    if (isAlone || piece.length >= batchFiles || bytes + byteLength > batchBytes) cut();
    piece.push(file);
    bytes += byteLength;
    const share = (byteLength + 2 * TAR_BLOCK_BYTES) / pieceBytes;
    if (isAlone || unitHash(path) < share) cut();
  }
  cut();
  return pieces;
}

function sizeOf(files: ReadonlyArray<{ byteLength: number }>): number {
  return files.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/**
 * Divides files, in the bundle's order, into batches of whole pieces, one worker's unit of work. Uses only paths and
 * sizes, so the archive is the same whatever the number of workers. Returns each file's batch number.
 */
export function divideIntoBatches(
  files: ReadonlyArray<{ path: string; byteLength: number }>,
  limits: PieceLimits,
): number[] {
  const { batchFiles, batchBytes, maxBufferedBytes } = limits;
  const batches: number[] = [];
  let batch = 0;
  let count = 0;
  let bytes = 0;
  let isFull = false;
  for (const piece of divideIntoPieces(files, limits)) {
    const pieceBytes = sizeOf(piece);
    // A streamed file can't share an object with pieces made in memory.
    const isStreamed = pieceBytes > maxBufferedBytes;
    const isTooMuch = count + piece.length > batchFiles || bytes + pieceBytes > batchBytes;
    if (count > 0 && (isFull || isStreamed || isTooMuch)) {
      batch += 1;
      count = 0;
      bytes = 0;
    }
    isFull = isStreamed;
    count += piece.length;
    bytes += pieceBytes;
    for (const _ of piece) batches.push(batch);
  }
  return batches;
}

/** One gzip member of a batch, as stored with the batch (`crawl_batches.pieces_json`), in the archive's order. */
export type StoredPiece = {
  /** The `pieceKey` of its source files. */
  key: string;
  sizeBytes: number;
  fileCount: number;
  /** The broken links of its files, with some of their referrers; omitted if there are none. */
  broken?: Record<string, string[]>;
  /** Its files that could not be rewritten; omitted if there are none. */
  unread?: { url: string; reason: string }[];
  /** How often its files still have the address of the origin; omitted if they don't. */
  originUrls?: { url: string; count: number }[];
  /** Of its pages; omitted if they have none. */
  anchors?: PageAnchors[];
  /** Its pages that got a twin in Markdown; omitted if none did. */
  madeTwins?: number;
  /** Reused from the previous export. */
  reused?: true;
  /** The first piece of the search says how it was made. */
  search?: SearchResult;
};

/** The search that was made, or why none could be. */
export type SearchResult = { languages: SearchLanguage[] } | { failure: string };

/**
 * Equal for pieces of the same files: same fetched bytes, URLs, paths, and withheld siblings (`withheldSiblings`). `isSearched`: its
 * pages load the script of the search.
 */
export function pieceKey(
  files: readonly BatchFileRow[],
  { withheld, isSearched }: { withheld: readonly string[]; isSearched: boolean },
): string {
  const parts = files.map(({ path, url, contentType, isPage, sha256 }) =>
    JSON.stringify([path, url, contentType, isPage, sha256]),
  );
  if (withheld.length > 0) parts.push(JSON.stringify(withheld));
  if (isSearched) parts.push('searched');
  return hash('sha256', parts.join('')).slice(0, 32);
}

export function parsePieces(json: string): StoredPiece[] {
  return JSON.parse(json);
}
