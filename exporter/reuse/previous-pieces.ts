import type { Logger } from 'pino';
import type { BundleFile } from '../../contract/bundle.ts';
import type { BatchFileRow, Crawl } from '../crawl-records.ts';
import type { JobMemory } from '../job-cache.ts';
import { type CrawlStore, ObjectMissingError, type ObjectStore } from '../ports.ts';
import { createRecentReadings } from '../recent-readings.ts';
import type { Extent } from '../segments/segment-store.ts';
import { type ChangedTargets, createChangedTargets } from './changed-targets.ts';
import { type KnownPlaces, readPlaces } from './known-places.ts';
import type { LinkTablesFor } from './link-tables.ts';
import type { StoredPiece } from './stored-piece.ts';

/** A piece of the last archive: where its bytes lie, and what the manifest says of its files. */
export type KnownPiece = { stored: StoredPiece; extent: Extent; files: BundleFile[] };

/** A piece to be made, with the files it is to hold (`pieceKey`). */
export type WantedPiece = { key: string; files: readonly BatchFileRow[] };

export type KnownPieces = {
  /**
   * For each piece the last export's of the same key, made of exactly these files, where each of their references still
   * leads to the same place.
   */
  of(pieces: readonly WantedPiece[]): Promise<Array<KnownPiece | undefined>>;
};

/** Past this many changed addresses only pieces without references are taken over. */
const MAX_CHANGED = 100_000;
/** Batches of the last export whose files are at hand; the new batches go along the same order of paths. */
const MAX_FILE_LISTS = 8;

/** `targets`: what of the map of addresses has changed; too much of it is not looked into. */
type Index = { places: KnownPlaces; targets: ChangedTargets | 'same' | 'too-many' };
type Deps = { store: CrawlStore; objects: ObjectStore; linksFor: LinkTablesFor; logger: Logger };

/** The pieces of the archive that a kept crawl was packed into, for the export `jobId` whose paths are frozen. */
export function createKnownPieces(deps: Deps, { jobId, base }: { jobId: string; base: Crawl }): KnownPieces {
  const { store } = deps;
  const lists = createRecentReadings<number, BundleFile[]>(MAX_FILE_LISTS);
  const index = createRecentReadings<string, Index>(1);

  async function readFiles(batch: number): Promise<BundleFile[]> {
    return JSON.parse(await store.keptFiles(base.jobId, batch));
  }

  async function isConcerned(changed: ChangedTargets, files: readonly BatchFileRow[]): Promise<boolean> {
    try {
      for (const file of files) if (await changed.concern(file)) return true;
      return false;
    } catch (error) {
      if (error instanceof ObjectMissingError) return true;
      throw error;
    }
  }

  async function find({ places, targets }: Index, { key, files }: WantedPiece): Promise<KnownPiece | undefined> {
    const place = places.get(key);
    if (place === undefined) return undefined;
    if (targets === 'too-many' && files.some(({ extractionLength }) => extractionLength > 0)) return undefined;
    if (typeof targets === 'object' && (await isConcerned(targets, files))) return undefined;
    const { stored, extent, batch, firstFile } = place;
    const all = lists.atHand(batch) ?? (await lists.of(batch, () => readFiles(batch)));
    const list = all.slice(firstFile, firstFile + stored.fileCount);
    return list.length === stored.fileCount ? { stored, extent, files: list } : undefined;
  }

  return {
    async of(pieces) {
      const found = await index.of(jobId, () => readIndex(deps, { jobId, base }));
      return Promise.all(pieces.map((piece) => find(found, piece)));
    },
  };
}

export type KnownPiecesFor = (job: { jobId: string; base: Crawl }) => KnownPieces;

/** The same pieces for all that rewrites a job in this process, so that they are read once. */
export function rememberKnownPieces(deps: Deps, memory: JobMemory): KnownPiecesFor {
  const pieces = memory.place<KnownPieces>();
  return (job) => pieces(job.jobId, () => createKnownPieces(deps, job));
}

/** Without pieces where the archive is gone: somebody may have deleted it since. */
async function readIndex(
  { store, objects, linksFor, logger }: Deps,
  { jobId, base }: { jobId: string; base: Crawl },
): Promise<Index> {
  const archive = await store.archiveOf(base.jobId);
  const info = archive === undefined ? null : await objects.head(archive.objectKey);
  const isThere = archive !== undefined && info?.sizeBytes === archive.sizeBytes;
  const places = isThere ? await readPlaces(store, base, archive) : undefined;
  if (places === undefined) {
    logger.info({ jobId, base: base.jobId }, "The last export's archive is gone or not known; all of it is made anew");
    return { places: new Map(), targets: 'same' };
  }
  const urls = await store.changedAddresses({ jobId, baseJobId: base.jobId, limit: MAX_CHANGED });
  if (urls === undefined) return { places, targets: 'too-many' };
  return { places, targets: urls.size === 0 ? 'same' : createChangedTargets(urls, linksFor(jobId)) };
}
