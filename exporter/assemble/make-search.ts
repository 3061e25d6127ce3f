import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { makeTemporaryFolder } from '../../base/temporary-folder.ts';
import { bytesOf, readEntries } from '../../bundle/read-entries.ts';
import type { BundleFile } from '../../contract/bundle.ts';
import type { MadeBatch } from '../crawl-records.ts';
import type { ExportLimits } from '../limits.ts';
import { batchKey } from '../object-keys.ts';
import type { CrawlStore, ExportObjects } from '../ports.ts';
import { shortcutScript } from '../search/shortcut.ts';
import { type IndexerOptions, IndexingFailed, startIndexer } from '../search/start-indexer.ts';
import type { ExportSettings } from '../settings.ts';
import { NOT_FOUND_PATH, SEARCH_FOLDER, SHORTCUT_PATH } from '../urls/assign-path.ts';
import { extentsOf, readExtents } from './extents.ts';
import type { PieceMaker } from './make-piece.ts';
import { byPath, divideIntoPieces, type SearchResult, type StoredPiece } from './pieces.ts';
import type { SiblingPlan } from './precompress.ts';

export type SearchDeps = {
  store: CrawlStore;
  objects: ExportObjects;
  computing: PieceMaker;
  limits: ExportLimits;
  logger: Logger;
  /** Of the process that makes the index. */
  indexer?: IndexerOptions | undefined;
};

/** The job, where its files are made, and what ends it. */
type SearchJob = { settings: ExportSettings; siblings: SiblingPlan; folder: string; signal: AbortSignal };

/**
 * Makes the search of a bundle whose other batches are made: its index, its pages and their scripts are the last batch. If
 * no index can be made, the script that pages load has no effect, and the report says why. Equal pages give equal files.
 */
export async function makeSearchBatch(
  deps: SearchDeps,
  job: Omit<SearchJob, 'folder'>,
  number: number,
): Promise<MadeBatch> {
  const folder = await makeTemporaryFolder('search');
  try {
    const search = await indexPages(deps, { ...job, folder });
    return await storeFiles(deps, { ...job, folder }, { number, search });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function indexPages(deps: SearchDeps, { settings, folder, signal }: SearchJob): Promise<SearchResult> {
  const indexer = startIndexer(signal, deps.indexer);
  try {
    for await (const batch of deps.store.settledBatches(settings.jobId)) {
      await readPages(deps.objects, batch, signal, (page) => indexer.add(page));
    }
    return { languages: await indexer.finish(folder) };
  } catch (error) {
    if (!(error instanceof IndexingFailed)) throw error;
    deps.logger.error({ err: error, jobId: settings.jobId }, 'The search index could not be made');
    await rm(folder, { recursive: true, force: true });
    await mkdir(join(folder, SEARCH_FOLDER), { recursive: true });
    await writeFile(join(folder, SHORTCUT_PATH), shortcutScript({}));
    return { failure: error.message };
  } finally {
    indexer.close();
  }
}

const PAGE_TYPE = /^(?:text\/html|application\/xhtml\+xml)\b/i;

/** Reads the pages of a batch one by one, as they are in the bundle. */
async function readPages(
  objects: ExportObjects,
  batch: Parameters<typeof extentsOf>[0] & { filesJson: string },
  signal: AbortSignal,
  onPage: (page: { path: string; html: string }) => Promise<void>,
): Promise<void> {
  const files: BundleFile[] = JSON.parse(batch.filesJson);
  const pages = new Set(files.flatMap((file) => (isPage(file) ? [file.path] : [])));
  if (pages.size === 0) return;
  const bound = { maxBytes: Number.MAX_SAFE_INTEGER };
  const archive = readExtents(objects, extentsOf(batch));
  await readEntries(
    archive,
    bound,
    async (entry) => {
      const path = entry.header.name;
      if (!pages.has(path)) return undefined;
      const bytes: Buffer[] = [];
      for await (const chunk of bytesOf(entry)) bytes.push(chunk);
      await onPage({ path, html: Buffer.concat(bytes).toString('utf8') });
      return undefined;
    },
    signal,
  );
}

function isPage({ path, contentType, encoding }: BundleFile): boolean {
  return encoding === undefined && path !== NOT_FOUND_PATH && PAGE_TYPE.test(contentType);
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
};

/** Archives the files of the folder, piece by piece. */
async function storeFiles(
  { objects, computing, limits }: SearchDeps,
  { settings, siblings, folder, signal }: SearchJob,
  { number, search }: { number: number; search: SearchResult },
): Promise<MadeBatch> {
  const objectKey = batchKey(settings.jobId, number, randomUUID());
  const files: BundleFile[] = [];
  const stored: StoredPiece[] = [];
  const pieces = divideIntoPieces(await filesIn(folder), limits);

  async function* archive(): AsyncGenerator<Uint8Array> {
    for (const [index, piece] of pieces.entries()) {
      signal.throwIfAborted();
      const read = piece.map(async ({ path }) => ({
        path,
        url: `https://${settings.site.domain}/${encodeURI(path)}`,
        contentType: TYPES[extname(path)] ?? 'application/octet-stream',
        isPage: false,
        bytes: await readFile(join(folder, path)),
        extraction: new Uint8Array(),
      }));
      const input = { files: await Promise.all(read), targets: new Map(), site: settings.site, policy: settings };
      const made = await computing.makePiece({ ...input, siblings, gzipLevel: limits.gzipLevel });
      // The origin's address in an index is that in the text of pages, where it is counted.
      files.push(...made.files.map(({ url: _, ...file }) => file));
      const first = index === 0 ? { search } : {};
      stored.push({ key: `search ${index}`, sizeBytes: made.bytes.length, fileCount: made.files.length, ...first });
      yield made.bytes;
    }
  }

  const { sizeBytes } = await objects.put(objectKey, Readable.from(archive(), { objectMode: false, signal }), {
    contentType: 'application/gzip',
  });
  const result = { number, objectKey, sizeBytes, storedBytes: sizeBytes, pageCount: 0, brokenJson: '{}' };
  return { ...result, filesJson: JSON.stringify(files), piecesJson: JSON.stringify(stored), partsJson: null };
}

/** All files of a folder, in the bundle's order. */
async function filesIn(folder: string): Promise<Array<{ path: string; byteLength: number }>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sized = files.map(async (file) => ({
    path: relative(folder, file).split(sep).join('/'),
    byteLength: (await stat(file)).size,
  }));
  return (await Promise.all(sized)).sort(byPath);
}
