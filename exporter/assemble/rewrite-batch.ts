import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { BundleFile } from '../../contract/bundle.ts';
import type { ByteBudget } from '../concurrency.ts';
import type { BatchFileRow, MadeBatch } from '../crawl-records.ts';
import { parseResources } from '../document/extract.ts';
import { inputGone } from '../export-failure.ts';
import type { ExportLimits } from '../limits.ts';
import { batchKey } from '../object-keys.ts';
import type { CrawlStore, ExportObjects } from '../ports.ts';
import type { ExportSettings } from '../settings.ts';
import type { WithApart } from '../stage.ts';
import { type Extent, joinExtents, readTogether, type SegmentStore } from '../store/segment-store.ts';
import { NOT_FOUND_PATH } from '../urls/assign-path.ts';
import { streamedMember } from './archive/members.ts';
import { createBrokenLinks } from './broken-links.ts';
import type { MadePiece, PieceFile, PieceMaker } from './make-piece.ts';
import { originalUrl } from './original-url.ts';
import { byPath, divideIntoPieces, pieceKey, type StoredPiece } from './pieces.ts';
import { type SiblingPlan, withheldSiblings } from './precompress.ts';
import type { PreviousPiece, PreviousPieces } from './previous-pieces.ts';
import type { UrlMap, UrlMaps } from './url-map.ts';

export type BatchDeps = {
  store: CrawlStore;
  objects: ExportObjects;
  segments: SegmentStore;
  computing: WithApart<PieceMaker>;
  maps: UrlMaps;
  limits: ExportLimits;
  logger: Logger;
};

type RewriteJob = {
  settings: ExportSettings;
  urlCount: number;
  /** The size of all segments. */
  rawBytes: number;
  siblings: SiblingPlan;
  /** Pages load the script of the search. */
  isSearched: boolean;
};

/** Pieces of a batch made at a time: more would only wait and take memory. */
const PIECES_AT_ONCE = 4;

async function readFiles(
  { segments, limits }: BatchDeps,
  job: RewriteJob,
  rows: readonly BatchFileRow[],
): Promise<Map<BatchFileRow, PieceFile>> {
  // Segments also contain the extractions, so a site fits only if there is room for both.
  const fits = job.rawBytes * 2 <= limits.cacheBytes;
  const extents = rows.map((row) => ({ ...row, byteLength: row.byteLength + row.extractionLength }));
  const stored = await readTogether(segments, extents, fits);
  const files = new Map<BatchFileRow, PieceFile>();
  for (const [index, row] of rows.entries()) {
    const both = stored[index];
    if (both?.length !== row.byteLength + row.extractionLength) throw inputGone(row.objectKey);
    files.set(row, { ...row, bytes: both.subarray(0, row.byteLength), extraction: both.subarray(row.byteLength) });
  }
  return files;
}

/** A piece of the batch, and the previous export's piece if it can be reused. */
type PlannedPiece = { key: string; files: BatchFileRow[]; known: PreviousPiece | undefined };

function rowsToMake(pieces: readonly PlannedPiece[]): BatchFileRow[] {
  return pieces.flatMap(({ files, known }) => (known === undefined ? files : []));
}

/** Makes the pieces that can't be reused. */
async function makePieces(deps: BatchDeps, job: RewriteJob, planned: readonly PlannedPiece[]): Promise<Piece[]> {
  const { settings, siblings, urlCount, isSearched } = job;
  const { jobId, site } = settings;
  const read = await readFiles(deps, job, rowsToMake(planned));
  const referred = function* () {
    for (const { extraction } of read.values()) for (const { url } of parseResources(extraction)) yield url;
  };
  const targets: UrlMap = read.size === 0 ? new Map() : await deps.maps.forUrls({ jobId, urlCount }, referred);
  const limit = pLimit(PIECES_AT_ONCE);
  const make = async ({ key, files: rows }: PlannedPiece): Promise<Piece> => {
    const files = rows.flatMap((row) => read.get(row) ?? []);
    const policy = { ...settings, isSearched };
    const input = { files, targets, site, policy, siblings, gzipLevel: deps.limits.gzipLevel };
    return { key, made: await deps.computing.makePiece(input) };
  };
  // Most pieces of an incremental export are known, and waiting costs more than they do.
  return await Promise.all(
    planned.map((piece) => {
      const { key, known } = piece;
      return known === undefined ? limit(make, piece) : { key, known };
    }),
  );
}

/**
 * Makes the pieces of one batch and stores them as one object. Reused pieces stay in the previous archive. The bytes
 * depend only on the frozen crawl.
 */
export async function rewriteBatch(
  deps: BatchDeps,
  job: RewriteJob,
  number: number,
  { known, budget, signal }: { known: PreviousPieces | undefined; budget: ByteBudget; signal: AbortSignal },
): Promise<MadeBatch> {
  const { limits } = deps;
  const { jobId } = job.settings;
  const rows = (await deps.store.batchFiles(jobId, number)).sort(byPath);
  const objectKey = batchKey(jobId, number, randomUUID());
  const pageCount = rows.filter((row) => row.isPage && row.path !== NOT_FOUND_PATH).length;

  const divided = divideIntoPieces(rows, limits).map((files) => ({
    files,
    key: pieceKey(files, { withheld: withheldSiblings(files, job.siblings), isSearched: job.isSearched }),
  }));
  const found = (await known?.of(divided)) ?? [];
  const [first] = rows;
  const isLarge = first !== undefined && rows.length === 1 && first.byteLength > limits.maxBufferedBytes;
  if (isLarge && found[0] === undefined) {
    const stored = await storeLargeMember(deps.objects, objectKey, first, { ...limits, signal });
    const { sizeBytes } = stored;
    const file = { ...stored.file, ...originalUrl(first, job.settings.site) };
    const piecesJson = JSON.stringify([{ key: divided[0]?.key ?? '', sizeBytes, fileCount: 1 } satisfies StoredPiece]);
    const result = { number, objectKey, sizeBytes, pageCount, filesJson: JSON.stringify([file]), brokenJson: '{}' };
    return { ...result, piecesJson, partsJson: null, storedBytes: sizeBytes };
  }

  const planned = divided.map((piece, index) => ({ ...piece, known: found[index] }));
  const bytes = rowsToMake(planned).reduce((sum, { byteLength }) => sum + byteLength, 0);
  const stored = await budget.use(bytes, async () =>
    storePieces(deps, objectKey, await makePieces(deps, job, planned)),
  );
  return { number, pageCount, ...stored };
}

/** A piece of a batch: reused from the previous export, or made and not stored yet. */
type Piece = { key: string } & ({ known: PreviousPiece } | { made: MadePiece });

/** Stores the new pieces and returns the whole batch: where its bytes are and what they contain. */
async function storePieces(
  { objects, logger }: { objects: ExportObjects; logger: Logger },
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
    stored.push({
      ...{ key, sizeBytes: made.bytes.length, fileCount: made.files.length },
      ...(made.broken.length > 0 && { broken: ownBroken }),
      ...(made.failures.length > 0 && { unread: made.failures }),
      ...(made.originUrls.length > 0 && { originUrls: made.originUrls }),
      ...(made.anchors.length > 0 && { anchors: made.anchors }),
      ...(made.madeTwins > 0 && { madeTwins: made.madeTwins }),
    });
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

/** Streams one file that is too large for memory into a piece of the archive. Throws when the signal fires. */
export async function storeLargeMember(
  objects: ExportObjects,
  objectKey: string,
  { path, contentType, byteLength, objectKey: sourceKey }: BatchFileRow,
  { gzipLevel, signal }: { gzipLevel: number; signal: AbortSignal },
): Promise<{ file: BundleFile; sizeBytes: number }> {
  const hash = createHash('sha256');
  const source = await objects.get(sourceKey);
  source.on('data', (chunk: Buffer) => hash.update(chunk));
  source.pause();
  const member = Readable.from(streamedMember({ path, sizeBytes: byteLength, source }, { level: gzipLevel }), {
    signal,
  });
  // `put` throws the error; the stream may fail before `put` listens to it.
  member.on('error', () => undefined);
  const { sizeBytes } = await objects.put(objectKey, member, { contentType: 'application/gzip' });
  return { file: { path, size: byteLength, sha256: hash.digest('hex'), contentType }, sizeBytes };
}
