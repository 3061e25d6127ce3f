import type { Logger } from 'pino';
import type { BundleFile } from '../../contract/bundle.ts';
import type { BatchFileRow, Crawl } from '../crawl-records.ts';
import { ObjectMissingError } from '../export-failure.ts';
import { createRecentReadings, type JobCache } from '../job-cache.ts';
import type { CrawlStore, ExportObjects } from '../ports.ts';
import type { LinkTables, LinkTablesFor } from '../reuse/link-tables.ts';
import type { Extent } from '../store/segment-store.ts';
import { trailerMember } from './archive/members.ts';
import { parsePieces, type StoredPiece } from './pieces.ts';

/** A piece of the previous archive: the position of its bytes, and its files in the manifest. */
export type PreviousPiece = { stored: StoredPiece; extent: Extent; files: BundleFile[] };

/** A piece to be made, with the files that it will contain (`pieceKey`). */
type WantedPiece = { key: string; files: readonly BatchFileRow[] };

export type PreviousPieces = {
  /**
   * Finds, for each piece, the previous export's piece with the same key and exactly these files, if all their
   * references still lead to the same place.
   */
  of(pieces: readonly WantedPiece[]): Promise<Array<PreviousPiece | undefined>>;
};

/** If more URLs have changed, only pieces without references are reused. */
const MAX_CHANGED = 100_000;
/** File lists of the previous batches to cache; the new batches follow the same order of paths. */
const MAX_FILE_LISTS = 8;

/** `targets`: the changed targets of URLs; `too-many` if there are more than `MAX_CHANGED`. */
type Index = { places: PreviousPlaces; targets: ChangedTargets | 'same' | 'too-many' };
type Deps = { store: CrawlStore; objects: ExportObjects; linksFor: LinkTablesFor; logger: Logger };

/** The pieces of the archive of a kept crawl, for the export `jobId`, whose paths are frozen. */
function createPreviousPieces(deps: Deps, { jobId, base }: { jobId: string; base: Crawl }): PreviousPieces {
  const { store } = deps;
  const lists = createRecentReadings<number, BundleFile[]>(MAX_FILE_LISTS);
  const index = createRecentReadings<string, Index>(1);

  async function readFiles(batch: number): Promise<BundleFile[]> {
    for await (const { filesJson } of store.settledBatches(base.jobId, batch)) return JSON.parse(filesJson);
    return [];
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

/** The same pieces for all rewriting of a job in this process, so that they are read once. */
export function rememberPreviousPieces(deps: Deps, jobCache: JobCache): PreviousPiecesFor {
  const pieces = jobCache.place<PreviousPieces>();
  return (job) => pieces(job.jobId, () => createPreviousPieces(deps, job));
}

/** Returns no pieces if the archive is gone: someone may have deleted it. */
async function readIndex(
  { store, objects, linksFor, logger }: Deps,
  { jobId, base }: { jobId: string; base: Crawl },
): Promise<Index> {
  const archive = await store.archiveOf(base.jobId);
  const info = archive === undefined ? null : await objects.head(archive.objectKey);
  const isThere = archive !== undefined && info?.sizeBytes === archive.sizeBytes;
  const places = isThere ? await readPlaces(base, archive) : undefined;
  if (places === undefined) {
    logger.info(
      { jobId, base: base.jobId },
      "The previous export's archive is missing or unknown; all pieces are made again",
    );
    return { places: new Map(), targets: 'same' };
  }
  const urls = await store.changedUrls({ jobId, baseJobId: base.jobId, limit: MAX_CHANGED });
  if (urls === undefined) return { places, targets: 'too-many' };
  return { places, targets: urls.size === 0 ? 'same' : createChangedTargets(urls, linksFor(jobId)) };
}

/** The position of a piece, and which files of its batch it contains. */
type Place = { stored: StoredPiece; extent: Extent; batch: number; firstFile: number };
type PreviousPlaces = ReadonlyMap<string, Place>;

/**
 * The positions of all pieces in the archive of a kept crawl. They are computed from sizes alone, so the sizes must add
 * up: undefined if they don't.
 */
async function readPlaces(
  base: Crawl,
  { objectKey, sizeBytes, batches }: NonNullable<Awaited<ReturnType<CrawlStore['archiveOf']>>>,
): Promise<PreviousPlaces | undefined> {
  if (base.archiveHeadBytes === null) return undefined;
  const places = new Map<string, Place>();
  let byteOffset = base.archiveHeadBytes;
  for await (const batch of batches) {
    const endOffset = byteOffset + batch.sizeBytes;
    let firstFile = 0;
    for (const stored of parsePieces(batch.piecesJson)) {
      const extent = { objectKey, byteOffset, byteLength: stored.sizeBytes };
      // What could not be rewritten is tried again.
      if (stored.unread === undefined) places.set(stored.key, { stored, extent, batch: batch.number, firstFile });
      byteOffset += stored.sizeBytes;
      firstFile += stored.fileCount;
    }
    if (byteOffset !== endOffset) return undefined;
  }
  return byteOffset + (await trailerMember()).length === sizeBytes ? places : undefined;
}

type ChangedTargets = {
  /** Whether a target of the file's references has changed, or its references aren't known. */
  concern(file: BatchFileRow): Promise<boolean>;
};

/**
 * Finds the files whose references have changed targets. Reads each link table once and keeps only the offsets of
 * unaffected files, because files come in another order than they are stored in.
 */
export function createChangedTargets(urls: ReadonlySet<string>, links: LinkTables): ChangedTargets {
  // Keeps all of them: offsets take little memory, and any segment may be needed again at the end.
  const untouched = new Map<string, Promise<ReadonlySet<number>>>();

  async function readUntouched(file: BatchFileRow): Promise<ReadonlySet<number>> {
    const table = await links.of(file);
    if (table === undefined) return new Set();
    const changed = new Set(table.urls.flatMap((url, index) => (urls.has(url) ? [index] : [])));
    const files = Object.entries(table.files);
    return new Set(files.flatMap(([at, indices]) => (indices.some((each) => changed.has(each)) ? [] : [Number(at)])));
  }

  async function untouchedOf(file: BatchFileRow): Promise<ReadonlySet<number>> {
    const reading = untouched.get(file.objectKey) ?? readUntouched(file);
    untouched.set(file.objectKey, reading);
    try {
      return await reading;
    } catch (error) {
      untouched.delete(file.objectKey);
      throw error;
    }
  }

  return {
    async concern(file) {
      if (file.extractionLength === 0) return false;
      return !(await untouchedOf(file)).has(file.byteOffset);
    },
  };
}
