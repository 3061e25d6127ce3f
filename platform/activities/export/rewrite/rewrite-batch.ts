import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { BundleFile } from '../../../../contract/bundle.ts';
import type { ObjectStore } from '../../../objects/object-store.ts';
import type { SettledBatch } from '../../../store/crawl-batches.ts';
import type { Database } from '../../../store/database.ts';
import { type BatchFileRow, batchFiles } from '../../../store/frontier-map.ts';
import { byPath } from '../archive/manifest.ts';
import { divideIntoPieces } from '../freeze/pieces.ts';
import type { ExportLimits } from '../limits.ts';
import { memberKey } from '../object-keys.ts';
import { NOT_FOUND_PATH } from '../page/assign-path.ts';
import { parseResources } from '../page/extract.ts';
import type { SegmentStore } from '../segment-store.ts';
import type { ExportSettings } from '../settings.ts';
import { createBrokenLinks } from './broken-links.ts';
import { storeLargeMember } from './large-member.ts';
import { makePiece, type PieceFile } from './make-piece.ts';
import type { UrlMaps } from './url-map.ts';

export type RewriteDeps = {
  db: Database;
  objects: ObjectStore;
  segments: SegmentStore;
  maps: UrlMaps;
  limits: ExportLimits;
  logger: Logger;
};

export type RewriteJob = {
  settings: ExportSettings;
  urlCount: number;
  /** Bytes of all segments together. */
  rawBytes: number;
};

async function readFile(deps: RewriteDeps, job: RewriteJob, row: BatchFileRow): Promise<PieceFile> {
  const byteLength = row.byteLength + row.extractionLength;
  // Extractions lie in the segments too; a site is taken to fit only when there is room for both.
  const fits = job.rawBytes * 2 <= deps.limits.cacheBytes;
  const stored = await deps.segments.read({ ...row, byteLength }, fits);
  return { ...row, bytes: stored.subarray(0, row.byteLength), extraction: stored.subarray(row.byteLength) };
}

/**
 * Makes the pieces of one batch and stores them, one after another, as one object. The bytes depend only on the frozen
 * crawl.
 */
export async function rewriteBatch(deps: RewriteDeps, job: RewriteJob, number: number): Promise<SettledBatch> {
  const { settings } = job;
  const { limits, logger } = deps;
  const { jobId, site } = settings;
  const rows = (await batchFiles(deps.db, jobId, number)).sort(byPath);
  const objectKey = memberKey(jobId, number, randomUUID());
  const pageCount = rows.filter((row) => row.isPage && row.path !== NOT_FOUND_PATH).length;

  const [first] = rows;
  if (first !== undefined && rows.length === 1 && first.byteLength > limits.maxBufferedBytes) {
    const { file, sizeBytes } = await storeLargeMember(deps.objects, objectKey, first, limits);
    return { number, objectKey, sizeBytes, pageCount, filesJson: JSON.stringify([file]), brokenJson: '{}' };
  }

  const read = new Map<BatchFileRow, PieceFile>();
  await Promise.all(rows.map(async (row) => read.set(row, await readFile(deps, job, row))));
  const referred = function* () {
    for (const { extraction } of read.values()) for (const { url } of parseResources(extraction)) yield url;
  };
  const targets = await deps.maps.forUrls({ jobId, urlCount: job.urlCount }, referred);
  const pieces = await Promise.all(
    divideIntoPieces(rows, limits).map((piece) => {
      const files = piece.flatMap((row) => read.get(row) ?? []);
      return makePiece({ files, targets, site, policy: settings, gzipLevel: limits.gzipLevel });
    }),
  );

  const broken = createBrokenLinks();
  const files: BundleFile[] = [];
  for (const piece of pieces) {
    files.push(...piece.files);
    for (const { url, referrer } of piece.broken) broken.add(url, referrer);
    for (const failure of piece.failures) {
      logger.error(failure, 'A document could not be rewritten; its links stay as they are');
    }
  }
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
  const { sizeBytes } = await deps.objects.put(objectKey, bytes, {
    contentType: 'application/gzip',
    sizeBytes: bytes.length,
  });
  return { number, objectKey, sizeBytes, pageCount, filesJson: JSON.stringify(files), brokenJson: broken.toJson() };
}
