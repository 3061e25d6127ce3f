import { createHash } from 'node:crypto';
import { isRedirect } from '../../bundle/manifest.ts';
import {
  BUNDLE_FORMAT_VERSION,
  type BundleFile,
  type BundleManifest,
  type BundleRedirect,
  contentDigestLine,
} from '../../contract/bundle.ts';
import type { SettledBatch } from '../crawl-records.ts';
import type { CrawlStore } from '../ports.ts';
import type { ExportSettings } from '../settings.ts';
import { type Extent, joinExtents } from '../store/segment-store.ts';
import { isOfSite, mounted } from '../urls/identity.ts';
import { type BrokenAnchors, createAnchorIndex } from './broken-anchors.ts';
import { type BrokenLinks, createBrokenLinks } from './broken-links.ts';
import { extentsOf } from './extents.ts';
import { byPath, parsePieces, type SearchResult, type StoredPiece } from './pieces.ts';
import { createTwins, madeTwin, type Twins } from './twins.ts';

/** How much of an archive was reused from the project's previous one. */
type ArchiveReuse = { files: number; reusedFiles: number };

/** A bundle's totals and positions, without the names of its files. */
export type BundleOutline = {
  head: ManifestHead;
  /** The manifest's text; each call reads the database again. */
  manifest(): AsyncIterable<Buffer>;
  /** The positions of the archive's pieces, in order. */
  members: Extent[];
  reuse: ArchiveReuse;
  broken: BrokenLinks;
  /** The files that could not be rewritten. */
  unread: { url: string; reason: string }[];
  /** How often the files still have the address of the origin. */
  originUrls: { url: string; count: number }[];
  /** Undefined if no search was made. */
  search: SearchResult | undefined;
  /** Pages with a twin in Markdown. */
  markdown: { fetched: number; made: number };
  brokenAnchors: BrokenAnchors;
};

function onSite(url: string, settings: ExportSettings): string {
  return isOfSite(url, settings.site) ? url.slice(`https://${settings.site.domain}`.length) : url;
}

async function redirectsOf(store: CrawlStore, settings: ExportSettings): Promise<BundleRedirect[]> {
  const redirects: BundleRedirect[] = [];
  for await (const rows of store.mappedRedirects(settings.jobId)) {
    for (const { url, redirectTo, status } of rows) {
      if (!isOfSite(url, settings.site)) continue;
      const redirect = {
        from: onSite(url, settings),
        to: onSite(mounted(redirectTo, settings.site), settings),
        status,
      };
      if (isRedirect(redirect)) redirects.push(redirect);
    }
  }
  return redirects.sort((a, b) => (a.from < b.from ? -1 : 1));
}

/** The files of all batches with their members, in the order of their paths. `search`: the last batch, and where it begins. */
async function* filesOf(
  store: CrawlStore,
  jobId: string,
  twins: Twins,
  search: { batch: SettledBatch; offset: number } | undefined,
): AsyncGenerator<BundleFile[]> {
  const order = createPathOrder(search === undefined ? [] : withMembers(search.batch, search.offset));
  let offset = 0;
  for await (const batch of store.settledBatches(jobId)) {
    if (batch.number === search?.batch.number) break;
    yield twins.name(order.next(withMembers(batch, offset)));
    offset += batch.sizeBytes;
  }
  yield twins.name(order.rest());
}

/** The batch of the search. Its paths come between those of the others. */
async function searchBatchOf(
  store: CrawlStore,
  { jobId, search }: ExportSettings,
  batchCount: number,
): Promise<SettledBatch | undefined> {
  if (search !== 'pagefind') return undefined;
  for await (const batch of store.settledBatches(jobId, batchCount - 1)) return batch;
  return undefined;
}

/** The files of a batch whose first member begins at `offset`. */
function withMembers({ filesJson, piecesJson }: SettledBatch, offset: number): BundleFile[] {
  const files: BundleFile[] = JSON.parse(filesJson);
  let [at, index] = [offset, 0];
  for (const { fileCount, sizeBytes: length } of parsePieces(piecesJson)) {
    for (const file of files.slice(index, index + fileCount)) Object.assign(file, { offset: at, length });
    at += length;
    index += fileCount;
  }
  return files;
}

/** Reads the settled batches once; counts and hashes the files without holding them. */
export async function outlineBundle(
  store: CrawlStore,
  settings: ExportSettings,
  { pageCount, batchCount }: { pageCount: number; batchCount: number },
): Promise<BundleOutline> {
  const { jobId, version, createdAt, site } = settings;
  const members: Extent[] = [];
  const digest = createHash('sha256');
  const searchBatch = await searchBatchOf(store, settings, batchCount);
  const order = createPathOrder(searchBatch === undefined ? [] : JSON.parse(searchBatch.filesJson));
  const twins = createTwins();
  const anchors = createAnchorIndex();
  const reuse = { files: 0, reusedFiles: 0 };
  const broken = createBrokenLinks();
  const unread: BundleOutline['unread'] = [];
  const originUrls: BundleOutline['originUrls'] = [];
  let search: SearchResult | undefined;
  let made = 0;
  let offset = 0;
  for await (const batch of store.settledBatches(jobId)) {
    const files: BundleFile[] = JSON.parse(batch.filesJson);
    const isSearch = batch.number === searchBatch?.number;
    for (const file of isSearch ? [] : order.next(files)) digest.update(contentDigestLine(file));
    if (!isSearch) offset += batch.sizeBytes;
    twins.add(files);
    reuse.files += files.length;
    broken.merge(JSON.parse(batch.brokenJson));
    members.push(...extentsOf(batch));
    const pieces = parsePieces(batch.piecesJson);
    anchors.add(pieces);
    for (const piece of pieces) {
      if (piece.reused) reuse.reusedFiles += piece.fileCount;
      unread.push(...(piece.unread ?? []));
      originUrls.push(...(piece.originUrls ?? []));
      search ??= piece.search;
      made += piece.madeTwins ?? 0;
    }
  }
  for (const file of order.rest()) digest.update(contentDigestLine(file));
  const contentSha256 = digest.digest('hex');
  const { domain } = site;
  const formatVersion = BUNDLE_FORMAT_VERSION;
  const own = { formatVersion, jobId, domain, version, createdAt, contentSha256, pageCount };
  const head: ManifestHead = { ...own, ...(site.basePath !== undefined && { basePath: site.basePath }) };
  const redirects = await redirectsOf(store, settings);
  const last = searchBatch && { batch: searchBatch, offset };
  const manifest = (): AsyncIterable<Buffer> => manifestText(head, filesOf(store, jobId, twins, last), redirects);
  const brokenAnchors = await anchors.broken(piecesOf(store, jobId));
  const markdown = { fetched: (await countTwins(store, jobId, twins)) - made, made };
  const found = { broken, unread, originUrls, search, markdown, brokenAnchors };
  return { head, manifest, members: joinExtents(members), reuse, ...found };
}

async function countTwins(store: CrawlStore, jobId: string, twins: Twins): Promise<number> {
  if (twins.isEmpty()) return 0;
  let count = 0;
  for await (const { filesJson } of store.settledBatches(jobId))
    count += twins.name(JSON.parse(filesJson)).filter(({ markdown }) => markdown !== undefined).length;
  return count;
}

async function* piecesOf(store: CrawlStore, jobId: string): AsyncGenerator<StoredPiece[]> {
  for await (const { piecesJson } of store.settledBatches(jobId)) yield parsePieces(piecesJson);
}

/** A manifest's own fields, without those that grow with the site. */
export type ManifestHead = Omit<BundleManifest, 'files' | 'redirects'>;

/** An element of a list in the manifest's format. */
function element(value: BundleFile | BundleRedirect): string {
  return `  ${JSON.stringify(value, null, 1).replaceAll('\n', '\n  ')}`;
}

async function* list(name: string, pieces: AsyncIterable<ReadonlyArray<BundleFile | BundleRedirect>>) {
  let isFirst = true;
  for await (const piece of pieces) {
    if (piece.length === 0) continue;
    yield `${isFirst ? `,\n "${name}": [\n` : ',\n'}${piece.map(element).join(',\n')}`;
    isFirst = false;
  }
  yield isFirst ? `,\n "${name}": []` : '\n ]';
}

async function* once<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}

/**
 * The text of a manifest in chunks, so that it is never completely in memory: as `JSON.stringify` would write it with
 * an indentation of one. `files` and `redirects` must be in the manifest's order.
 */
export async function* manifestText(
  head: ManifestHead,
  files: AsyncIterable<readonly BundleFile[]>,
  redirects: readonly BundleRedirect[],
): AsyncGenerator<Buffer> {
  yield Buffer.from(JSON.stringify(head, null, 1).slice(0, -'\n}'.length));
  for await (const piece of list('files', files)) yield Buffer.from(piece);
  for await (const piece of list('redirects', once(redirects))) yield Buffer.from(piece);
  yield Buffer.from('\n}\n');
}

type PathOrder = {
  /** Takes the archive's next files and returns those that come next in the manifest. */
  next(files: readonly BundleFile[]): BundleFile[];
  /** The remaining files at the end. */
  rest(): BundleFile[];
};

/**
 * Sorts files by path as they come from the archive, where each is followed by its precompressed siblings: `a.html.br`
 * waits until `a.html-old` has come, as does `a.html.md` that Galley made. Only siblings wait, so few files are held, and
 * those of `between`, which come later in the archive.
 */
export function createPathOrder(between: readonly BundleFile[] = []): PathOrder {
  const later = [...between].sort(byPath);
  let waiting: BundleFile[] = [];
  let last = '';

  /** The first of those that are held, if it comes before this file. */
  function takeBefore(file: BundleFile | undefined): BundleFile | undefined {
    const source =
      later[0] !== undefined && (waiting[0] === undefined || byPath(later[0], waiting[0]) < 0) ? later : waiting;
    if (source[0] === undefined || (file !== undefined && byPath(source[0], file) >= 0)) return undefined;
    return source.shift();
  }

  function* before(file: BundleFile | undefined): Generator<BundleFile> {
    for (let held = takeBefore(file); held !== undefined; held = takeBefore(file)) yield held;
  }

  return {
    next(files) {
      const ordered: BundleFile[] = [];
      for (const file of files) {
        if (file.encoding === undefined && file.path !== madeTwin(last)) {
          ordered.push(...before(file), file);
          last = file.path;
        } else waiting = [...waiting, file].sort(byPath);
      }
      return ordered;
    },
    rest: () => [...before(undefined)],
  };
}
