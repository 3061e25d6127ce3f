import type {
  BatchFileRow,
  CrawlFindings,
  CrawlNotice,
  FindingsSelect,
  FoundUrl,
  MappedUrl,
  PreviousFile,
  ReportedUrls,
  ScopeCounts,
  SettledRow,
  Skips,
  StoredResponse,
} from '../crawl-records.ts';
import { NOT_FOUND_PATH } from '../urls/assign-path.ts';
import { rankOf, SKIPPED_RANK } from '../urls/resource-rank.ts';
import { fileOf, filesOf, type MemoryCrawl, type Row } from './memory-crawl.ts';
import type { Spill } from './spill.ts';

/** What can be read of a crawl. Each list is in the order in which the URLs were found, unless it says otherwise. */

export function countPages({ byId }: MemoryCrawl): number {
  const paths = new Set<string | null>();
  for (const { isPage, path } of byId) if (isPage && path !== NOT_FOUND_PATH) paths.add(path);
  return paths.size;
}

export function scopeCounts({ byId }: MemoryCrawl): ScopeCounts {
  const variants = new Map<string, Set<string>>();
  const skips = new Map<string, number>();
  let guessCount = 0;
  for (const { url, rank, outcome, reason } of byId) {
    if (outcome === 'skipped') {
      skips.set(reason ?? '', (skips.get(reason ?? '') ?? 0) + 1);
      continue;
    }
    if (rank === rankOf('guess')) {
      guessCount += 1;
      continue;
    }
    const at = url.indexOf('?');
    if (at < 0) continue;
    const path = url.slice(0, at);
    const queries = variants.get(path) ?? new Set();
    variants.set(path, queries.add(url.slice(at)));
  }
  return { variants, skips, guessCount };
}

/** The most frequent reason first, with its lowest URLs. */
function skipsByReason({ byId }: MemoryCrawl, maxExamples: number): Skips[] {
  const urls = new Map<string, string[]>();
  for (const { url, outcome, reason } of byId) {
    if (outcome !== 'skipped') continue;
    const ofReason = urls.get(reason ?? '');
    if (ofReason === undefined) urls.set(reason ?? '', [url]);
    else ofReason.push(url);
  }
  const skips = [...urls].map(([reason, all]) => ({
    reason,
    count: all.length,
    examples: all.sort().slice(0, maxExamples),
  }));
  return skips.sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

export function storedResponse(row: Row, spill: Spill): StoredResponse | undefined {
  const { state, outcome, status, redirectTo } = row;
  if (state !== 'settled' || outcome === null) return undefined;
  const file = fileOf(spill, row);
  return {
    outcome,
    status,
    redirectTo,
    contentType: file?.contentType ?? null,
    objectKey: file?.objectKey ?? null,
    byteOffset: file?.byteOffset ?? 0,
    byteLength: file?.byteLength ?? 0,
  };
}

export function crawledPages({ byId }: MemoryCrawl, limit: number): string[] {
  const pages = byId.filter(({ isPage, outcome, path }) => isPage && outcome === 'file' && path !== NOT_FOUND_PATH);
  return pages.slice(0, limit).map(({ url }) => url);
}

/** Queued URLs that have not failed, nearest to the start page first. */
export function untriedUrls({ queue }: MemoryCrawl, limit: number): FoundUrl[] {
  const untried: FoundUrl[] = [];
  for (const { url, rank, depth, foundOn, charset, failures } of queue.list()) {
    if (untried.length === limit) break;
    if (failures === 0)
      untried.push({ url, rank, depth, foundOn, skip: null, take: false, charset: charset ?? undefined });
  }
  return untried;
}

export function* fetchedFiles(crawl: MemoryCrawl, spill: Spill, urls?: readonly string[]): Generator<PreviousFile> {
  const rows = urls === undefined ? crawl.byId : urls.flatMap((url) => crawl.rows.get(url) ?? []);
  for (const { row, file } of filesOf(spill, rows)) {
    const { url, isPage, status } = row;
    yield { url, isPage, status: status ?? 0, ...file };
  }
}

export function* batchFiles(crawl: MemoryCrawl, spill: Spill, batch: number): Generator<BatchFileRow> {
  for (const row of crawl.rowsOfBatch.get(batch) ?? []) {
    const file = fileOf(spill, row);
    if (file === undefined || row.path === null) continue;
    const { etag: _, lastModified: _modified, ...place } = file;
    yield { url: row.url, path: row.path, isPage: row.isPage, ...place };
  }
}

export function* mappedUrls(crawl: MemoryCrawl, urls?: readonly string[]): Generator<MappedUrl> {
  const rows = urls === undefined ? crawl.byId : urls.flatMap((url) => crawl.rows.get(url) ?? []);
  for (const { url, outcome, redirectTo, path, fragment } of rows) {
    if (outcome !== null) yield { url, outcome, redirectTo, path, fragment };
  }
}

/** The paths that look like precompressed siblings, in order. */
export function pathsMatching({ byId }: MemoryCrawl, pattern: string): string[] {
  const matching = new RegExp(pattern, 'i');
  return byId
    .flatMap(({ path, batch }) => (batch !== null && path !== null && matching.test(path) ? [path] : []))
    .sort();
}

/** The redirects of the crawl, without those of probes: a guessed URL is no URL of the site. */
export function* mappedRedirects({
  byId,
}: MemoryCrawl): Generator<{ url: string; redirectTo: string; status: number }> {
  for (const { url, outcome, redirectTo, status, rank } of byId) {
    if (outcome !== 'redirect' || redirectTo === null || rank <= rankOf('probe')) continue;
    yield { url, redirectTo, status: status ?? 302 };
  }
}

function reportedUrls(
  { byId }: MemoryCrawl,
  { outcome, minRank, limit }: { outcome: SettledRow['outcome']; minRank: number; limit: number },
): ReportedUrls {
  const chosen = byId.filter(
    (row) => row.outcome === outcome && row.rank >= minRank && (outcome !== 'file' || row.reason !== null),
  );
  const rows = chosen
    .slice(0, limit)
    .map(({ url, rank, status, reason, redirectTo, foundOn }) => ({ url, rank, status, reason, redirectTo, foundOn }));
  return { rows, total: chosen.length };
}

/** Each notice once, ordered by URL. */
function distinctNotices({ notices }: MemoryCrawl): CrawlNotice[] {
  const distinct = new Map(notices.map((notice) => [JSON.stringify([notice.url, notice.text]), notice]));
  const key = ({ url, text }: CrawlNotice): string => `${url ?? ''}\n${text}`;
  return [...distinct.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

export function crawlFindings(crawl: MemoryCrawl, spill: Spill, select: FindingsSelect): CrawlFindings {
  const { minRank, limit, maxExamples, ownPrefix } = select;
  let reusedCount = 0;
  for (const { file } of filesOf(spill, crawl.byId)) if (!file.objectKey.startsWith(ownPrefix)) reusedCount += 1;
  return {
    missing: reportedUrls(crawl, { outcome: 'missing', minRank, limit }),
    redirects: reportedUrls(crawl, { outcome: 'redirect', minRank, limit }),
    skipped: reportedUrls(crawl, { outcome: 'skipped', minRank: SKIPPED_RANK, limit }),
    unread: reportedUrls(crawl, { outcome: 'file', minRank: 0, limit }),
    skips: skipsByReason(crawl, maxExamples),
    notices: distinctNotices(crawl),
    reusedCount,
  };
}

/** The URLs that lead elsewhere in one crawl than in another, or that only one of them has. */
export function* changedUrls(crawl: MemoryCrawl, base: MemoryCrawl): Generator<string> {
  for (const row of crawl.byId) {
    const before = base.rows.get(row.url);
    if (row.outcome !== 'skipped' && (before === undefined || !leadsToSame(row, before))) yield row.url;
  }
  for (const before of base.byId) {
    const now = crawl.rows.get(before.url);
    if (before.outcome !== 'skipped' && (now === undefined || now.outcome === 'skipped')) yield before.url;
  }
}

function leadsToSame(now: Row, before: Row): boolean {
  if (before.outcome === 'skipped') return false;
  const isMissing = now.outcome === 'missing';
  return (
    isMissing === (before.outcome === 'missing') &&
    now.path === before.path &&
    now.fragment === before.fragment &&
    now.redirectTo === before.redirectTo
  );
}
