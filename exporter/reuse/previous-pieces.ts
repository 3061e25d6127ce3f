import type { Logger } from 'pino';
import type { BundleFile } from '../../contract/bundle.ts';
import type { BatchFileRow, Crawl } from '../crawl-records.ts';
import type { JobCache } from '../job-cache.ts';
import { trailerMember } from '../pack/archive/members.ts';
import { type CrawlStore, ObjectMissingError, type ObjectStore } from '../ports.ts';
import { createRecentReadings } from '../recent-readings.ts';
import type { Extent } from '../segments/segment-store.ts';
import type { LinkTables, LinkTablesFor } from './link-tables.ts';
import { parsePieces, type StoredPiece } from './stored-piece.ts';

/** A piece of the last archive: where its bytes lie, and what the manifest says of its files. */
export type PreviousPiece = { stored: StoredPiece; extent: Extent; files: BundleFile[] };

/** A piece to be made, with the files it is to hold (`pieceKey`). */
export type WantedPiece = { key: string; files: readonly BatchFileRow[] };

export type PreviousPieces = {
  /**
   * For each piece the last export's of the same key, made of exactly these files, where each of their references still
   * leads to the same place.
   */
  of(pieces: readonly WantedPiece[]): Promise<Array<PreviousPiece | undefined>>;
};

/** Past this many changed addresses only pieces without references are taken over. */
const MAX_CHANGED = 100_000;
/** Batches of the last export whose files are at hand; the new batches go along the same order of paths. */
const MAX_FILE_LISTS = 8;

/** `targets`: what of the map of addresses has changed; too much of it is not looked into. */
type Index = { places: PreviousPlaces; targets: ChangedTargets | 'same' | 'too-many' };
type Deps = { store: CrawlStore; objects: ObjectStore; linksFor: LinkTablesFor; logger: Logger };

/** The pieces of the archive that a kept crawl was packed into, for the export `jobId` whose paths are frozen. */
export function createPreviousPieces(deps: Deps, { jobId, base }: { jobId: string; base: Crawl }): PreviousPieces {
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

  async function find({ places, targets }: Index, { key, files }: WantedPiece): Promise<PreviousPiece | undefined> {
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

export type PreviousPiecesFor = (job: { jobId: string; base: Crawl }) => PreviousPieces;

/** The same pieces for all that rewrites a job in this process, so that they are read once. */
export function rememberPreviousPieces(deps: Deps, jobCache: JobCache): PreviousPiecesFor {
  const pieces = jobCache.place<PreviousPieces>();
  return (job) => pieces(job.jobId, () => createPreviousPieces(deps, job));
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
  const urls = await store.changedUrls({ jobId, baseJobId: base.jobId, limit: MAX_CHANGED });
  if (urls === undefined) return { places, targets: 'too-many' };
  return { places, targets: urls.size === 0 ? 'same' : createChangedTargets(urls, linksFor(jobId)) };
}

/** Where a piece lies, and which files of its batch it holds. */
export type Place = { stored: StoredPiece; extent: Extent; batch: number; firstFile: number };
type PreviousPlaces = ReadonlyMap<string, Place>;

/**
 * The places of all pieces in the archive that a kept crawl was packed into. They are told by sizes alone, so all must
 * add up: undefined where a batch or the archive was made by a worker that told less than this one would.
 */
async function readPlaces(
  store: CrawlStore,
  base: Crawl,
  { objectKey, sizeBytes }: { objectKey: string; sizeBytes: number },
): Promise<PreviousPlaces | undefined> {
  if (base.archiveHeadBytes === null) return undefined;
  const places = new Map<string, Place>();
  let byteOffset = base.archiveHeadBytes;
  for await (const batch of store.keptBatches(base.jobId)) {
    if (batch.piecesJson === null || batch.sizeBytes === null) return undefined;
    const endOffset = byteOffset + batch.sizeBytes;
    let firstFile = 0;
    for (const stored of parsePieces(batch.piecesJson)) {
      const extent = { objectKey, byteOffset, byteLength: stored.sizeBytes };
      places.set(stored.key, { stored, extent, batch: batch.number, firstFile });
      byteOffset += stored.sizeBytes;
      firstFile += stored.fileCount;
    }
    if (byteOffset !== endOffset) return undefined;
  }
  return byteOffset + (await trailerMember()).length === sizeBytes ? places : undefined;
}

type ChangedTargets = {
  /** Whether a file refers to an address that leads elsewhere than before, or its references aren't known. */
  concern(file: BatchFileRow): Promise<boolean>;
};

/**
 * Tells which files a changed map of addresses concerns. Each table of links is read once, and of it only the offsets
 * of the files that nothing has changed for are remembered: files come in another order than they were stored in.
 */
export function createChangedTargets(urls: ReadonlySet<string>, links: LinkTables): ChangedTargets {
  // All of them: numbers take little room, and any segment's files may come up again at the very end.
  const untouched = createRecentReadings<string, ReadonlySet<number>>(Number.POSITIVE_INFINITY);

  async function readUntouched(file: BatchFileRow): Promise<ReadonlySet<number>> {
    const table = await links.of(file);
    if (table === undefined) return new Set();
    const changed = new Set(table.urls.flatMap((url, index) => (urls.has(url) ? [index] : [])));
    const files = Object.entries(table.files);
    return new Set(files.flatMap(([at, indices]) => (indices.some((each) => changed.has(each)) ? [] : [Number(at)])));
  }

  return {
    async concern(file) {
      if (file.extractionLength === 0) return false;
      const offsets = await untouched.of(file.objectKey, () => readUntouched(file));
      return !offsets.has(file.byteOffset);
    },
  };
}
