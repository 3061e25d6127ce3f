import type { Logger } from 'pino';
import type { BundleFile } from '../../../../contract/bundle.ts';
import { ObjectMissingError, type ObjectStore } from '../../../objects/object-store.ts';
import type { CrawlRow } from '../../../store/crawls.ts';
import type { Database } from '../../../store/database.ts';
import { getExportJob } from '../../../store/export-jobs.ts';
import type { BatchFileRow } from '../../../store/frontier-map.ts';
import { changedAddresses, keptFiles } from '../../../store/kept-pieces.ts';
import type { JobMemory } from '../job-memory.ts';
import { createRecentReadings } from '../recent-readings.ts';
import type { Extent } from '../segment-store.ts';
import { type ChangedTargets, createChangedTargets } from './changed-targets.ts';
import { type KnownPlaces, readPlaces } from './known-places.ts';
import type { LinkTablesFor } from './link-tables.ts';
import type { StoredPiece } from './stored-piece.ts';

/** A piece of the last archive: where its bytes lie, and what the manifest says of its files. */
export type KnownPiece = { stored: StoredPiece; extent: Extent; files: BundleFile[] };

export type KnownPieces = {
  /** The last export's piece of this key, made of exactly these files, where each of their references still leads to the same place. */
  of(key: string, files: readonly BatchFileRow[]): Promise<KnownPiece | undefined>;
};

/** Past this many changed addresses only pieces without references are taken over. */
const MAX_CHANGED = 100_000;
/** Batches of the last export whose files are at hand; the new batches go along the same order of paths. */
const MAX_FILE_LISTS = 8;

type Index = { places: KnownPlaces; changed: ChangedTargets | undefined };
type Deps = { db: Database; objects: ObjectStore; linksFor: LinkTablesFor; logger: Logger };

/** The pieces of the archive that a kept crawl was packed into, for the export `jobId` whose paths are frozen. */
export function createKnownPieces(deps: Deps, { jobId, base }: { jobId: string; base: CrawlRow }): KnownPieces {
  const { db } = deps;
  const lists = createRecentReadings<number, BundleFile[]>(MAX_FILE_LISTS);
  const index = createRecentReadings<string, Index>(1);

  async function readFiles(batch: number): Promise<BundleFile[]> {
    return JSON.parse(await keptFiles(db, base.jobId, batch));
  }

  async function isConcerned(changed: ChangedTargets | undefined, files: readonly BatchFileRow[]): Promise<boolean> {
    for (const file of files) {
      if (changed === undefined ? file.extractionLength > 0 : await changed.concern(file)) return true;
    }
    return false;
  }

  return {
    async of(key, files) {
      const { places, changed } = await index.of(jobId, () => readIndex(deps, { jobId, base }));
      const place = places.get(key);
      if (place === undefined) return undefined;
      try {
        if (await isConcerned(changed, files)) return undefined;
      } catch (error) {
        if (error instanceof ObjectMissingError) return undefined;
        throw error;
      }
      const { stored, extent, batch, firstFile } = place;
      const list = (await lists.of(batch, () => readFiles(batch))).slice(firstFile, firstFile + stored.fileCount);
      return list.length === stored.fileCount ? { stored, extent, files: list } : undefined;
    },
  };
}

export type KnownPiecesFor = (job: { jobId: string; base: CrawlRow }) => KnownPieces;

/** The same pieces for all that rewrites a job in this process, so that they are read once. */
export function rememberKnownPieces(deps: Deps, memory: JobMemory): KnownPiecesFor {
  const pieces = memory.place<KnownPieces>();
  return (job) => pieces(job.jobId, () => createKnownPieces(deps, job));
}

/** Without pieces where the archive is gone: somebody may have deleted it since. */
async function readIndex(
  { db, objects, linksFor, logger }: Deps,
  { jobId, base }: { jobId: string; base: CrawlRow },
): Promise<Index> {
  const job = await getExportJob(db, base.jobId);
  const objectKey = job?.archiveKey ?? null;
  const info = objectKey === null ? null : await objects.head(objectKey);
  const isThere = objectKey !== null && info !== null && info.sizeBytes === job?.archiveSizeBytes;
  const places = isThere ? await readPlaces(db, base, { objectKey, sizeBytes: info.sizeBytes }) : undefined;
  if (places === undefined) {
    logger.info({ jobId, base: base.jobId }, "The last export's archive is gone or not known; all of it is made anew");
    return { places: new Map(), changed: undefined };
  }
  const urls = await changedAddresses(db, { jobId, baseJobId: base.jobId, limit: MAX_CHANGED });
  return { places, changed: urls && createChangedTargets(urls, linksFor(jobId)) };
}
