import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { BatchFileRow, MadeBatch } from '../crawl-records.ts';
import { NOT_FOUND_PATH } from '../document/assign-path.ts';
import { parseResources } from '../document/extract.ts';
import { inputGone } from '../export-failure.ts';
import { divideIntoPieces } from '../freeze/pieces.ts';
import type { ExportLimits } from '../limits.ts';
import { memberKey } from '../object-keys.ts';
import { byPath } from '../pack/path-order.ts';
import type { CrawlStore, ObjectStore } from '../ports.ts';
import type { PreviousPiece, PreviousPieces } from '../reuse/previous-pieces.ts';
import { pieceKey, type StoredPiece } from '../reuse/stored-piece.ts';
import { readTogether } from '../segments/read-together.ts';
import type { SegmentStore } from '../segments/segment-store.ts';
import type { ExportSettings } from '../settings.ts';
import type { Computing } from '../threads/computing.ts';
import type { ByteBudget } from './byte-budget.ts';
import { storeLargeMember } from './large-member.ts';
import type { PieceFile } from './make-piece.ts';
import { type SiblingPlan, withheldSiblings } from './precompress/sibling-plan.ts';
import { type Piece, storePieces } from './store-pieces.ts';
import type { UrlMap, UrlMaps } from './url-map.ts';

export type RewriteDeps = {
  store: CrawlStore;
  objects: ObjectStore;
  segments: SegmentStore;
  computing: Pick<Computing, 'makePiece'>;
  maps: UrlMaps;
  limits: ExportLimits;
  logger: Logger;
};

export type RewriteJob = {
  settings: ExportSettings;
  urlCount: number;
  /** The size of all segments. */
  rawBytes: number;
  siblings: SiblingPlan;
};

/** Pieces of a batch made at a time: more would only wait and take memory. */
const PIECES_AT_ONCE = 4;

async function readFiles(
  { segments, limits }: RewriteDeps,
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
async function makePieces(deps: RewriteDeps, job: RewriteJob, planned: readonly PlannedPiece[]): Promise<Piece[]> {
  const { settings, siblings, urlCount } = job;
  const { jobId, site } = settings;
  const read = await readFiles(deps, job, rowsToMake(planned));
  const referred = function* () {
    for (const { extraction } of read.values()) for (const { url } of parseResources(extraction)) yield url;
  };
  const targets: UrlMap = read.size === 0 ? new Map() : await deps.maps.forUrls({ jobId, urlCount }, referred);
  return pLimit(PIECES_AT_ONCE).map(planned, async ({ key, known, files: rows }): Promise<Piece> => {
    if (known !== undefined) return { key, known };
    const files = rows.flatMap((row) => read.get(row) ?? []);
    const input = { files, targets, site, policy: settings, siblings, gzipLevel: deps.limits.gzipLevel };
    return { key, made: await deps.computing.makePiece(input) };
  });
}

/**
 * Makes the pieces of one batch and stores them as one object. Reused pieces stay in the previous archive. The bytes
 * depend only on the frozen crawl.
 */
export async function rewriteBatch(
  deps: RewriteDeps,
  job: RewriteJob,
  number: number,
  { known, budget }: { known: PreviousPieces | undefined; budget: ByteBudget },
): Promise<MadeBatch> {
  const { limits } = deps;
  const { jobId } = job.settings;
  const rows = (await deps.store.batchFiles(jobId, number)).sort(byPath);
  const objectKey = memberKey(jobId, number, randomUUID());
  const pageCount = rows.filter((row) => row.isPage && row.path !== NOT_FOUND_PATH).length;

  const divided = divideIntoPieces(rows, limits).map((files) => ({
    files,
    key: pieceKey(files, withheldSiblings(files, job.siblings)),
  }));
  const found = (await known?.of(divided)) ?? [];
  const [first] = rows;
  const isLarge = first !== undefined && rows.length === 1 && first.byteLength > limits.maxBufferedBytes;
  if (isLarge && found[0] === undefined) {
    const { file, sizeBytes } = await storeLargeMember(deps.objects, objectKey, first, limits);
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
