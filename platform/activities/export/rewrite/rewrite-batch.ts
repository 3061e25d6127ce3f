import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { ObjectStore } from '../../../objects/object-store.ts';
import type { SettledBatch } from '../../../store/crawl-batches.ts';
import type { Database } from '../../../store/database.ts';
import { type BatchFileRow, batchFiles } from '../../../store/frontier-map.ts';
import { byPath } from '../archive/manifest.ts';
import { gzipMember } from '../archive/members.ts';
import type { ArchiveEntry } from '../archive/types.ts';
import type { ExportLimits } from '../limits.ts';
import { memberKey } from '../object-keys.ts';
import { NOT_FOUND_PATH } from '../page/assign-path.ts';
import { parseExtraction } from '../page/extract.ts';
import { rewrite } from '../page/rewrite.ts';
import type { Extraction, Resource, Target } from '../page/types.ts';
import type { SegmentStore } from '../segment-store.ts';
import type { ExportSettings } from '../settings.ts';
import { type BrokenLinks, createBrokenLinks } from './broken-links.ts';
import { storeLargeMember } from './large-member.ts';
import { pageAddress } from './page-address.ts';
import { targetIn, type UrlMap, type UrlMaps } from './url-map.ts';

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

type ReadFile = { row: BatchFileRow; bytes: Buffer; extraction: Extraction | undefined };

async function readFile(deps: RewriteDeps, job: RewriteJob, row: BatchFileRow): Promise<ReadFile> {
  const byteLength = row.byteLength + row.extractionLength;
  // Extractions lie in the segments too; a site is taken to fit only when there is room for both.
  const fits = job.rawBytes * 2 <= deps.limits.cacheBytes;
  const stored = await deps.segments.read({ ...row, byteLength }, fits);
  return {
    row,
    bytes: stored.subarray(0, row.byteLength),
    extraction:
      row.extractionLength === 0 ? undefined : parseExtraction(stored.subarray(row.byteLength).toString('utf8')),
  };
}

/**
 * Makes one piece of the archive: reads its files, writes their references as they stand in the bundle, compresses
 * them and stores the result. The bytes depend only on the frozen crawl.
 */
export async function rewriteBatch(deps: RewriteDeps, job: RewriteJob, number: number): Promise<SettledBatch> {
  const { settings } = job;
  const { jobId } = settings;
  const rows = (await batchFiles(deps.db, jobId, number)).sort(byPath);
  const objectKey = memberKey(jobId, number, randomUUID());
  const pageCount = rows.filter((row) => row.isPage && row.path !== NOT_FOUND_PATH).length;

  const [first] = rows;
  if (first !== undefined && rows.length === 1 && first.byteLength > deps.limits.maxBufferedBytes) {
    const { file, sizeBytes } = await storeLargeMember(deps.objects, objectKey, first, deps.limits);
    return { number, objectKey, sizeBytes, pageCount, filesJson: JSON.stringify([file]), brokenJson: '{}' };
  }

  const files = await Promise.all(rows.map((row) => readFile(deps, job, row)));
  const referred = function* () {
    for (const { extraction } of files) for (const { url } of extraction?.resources ?? []) yield url;
  };
  const map = await deps.maps.forUrls({ jobId, urlCount: job.urlCount }, referred);
  const broken = createBrokenLinks();
  const entries = files.map((file): ArchiveEntry => {
    const { path, contentType } = file.row;
    return { path, bytes: rewriteFile(deps, settings, map, broken, file), contentType };
  });
  const member = await gzipMember(entries, { level: deps.limits.gzipLevel });
  const { sizeBytes } = await deps.objects.put(objectKey, member.bytes, {
    contentType: 'application/gzip',
    sizeBytes: member.bytes.length,
  });
  const addresses = new Map(rows.map((row) => [row.path, pageAddress(row, settings.site)]));
  const filesJson = JSON.stringify(member.files.map((file) => ({ ...file, ...addresses.get(file.path) })));
  return { number, objectKey, sizeBytes, pageCount, filesJson, brokenJson: broken.toJson() };
}

function rewriteFile(
  { logger }: RewriteDeps,
  { site, scripts, external }: ExportSettings,
  map: UrlMap,
  broken: BrokenLinks,
  { row, bytes, extraction }: ReadFile,
): Uint8Array {
  const { url, path: ownPath } = row;
  if (extraction === undefined) return bytes;
  const target = (resource: Resource): Target => {
    const found = targetIn(map, resource);
    if ('missing' in found) broken.add(resource.url, url);
    return found;
  };
  try {
    return rewrite({ bytes, extraction, site, url, ownPath, target, policy: { scripts, external } });
  } catch (error) {
    logger.error({ err: error, url }, 'A document could not be rewritten; its links stay as they are');
    return bytes;
  }
}
