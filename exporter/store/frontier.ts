import type {
  FoundUrl,
  FrontierCounts,
  FrontierRest,
  Lease,
  LeasedUrl,
  SettledUrl,
  SpentCounts,
  UnchangedUrl,
} from '../crawl-records.ts';
import type { CrawlStore } from '../ports.ts';
import { addRow, fileOf, leaseRow, type MemoryCrawl, queueRow, type Row } from './memory-crawl.ts';
import type { Extent, Spill } from './spill.ts';

export function leaseUrls(
  crawl: MemoryCrawl,
  { token, leaseMs, ...wanted }: Parameters<CrawlStore['leaseUrls']>[0],
  nowMs: number,
): LeasedUrl[] {
  const rows =
    'urls' in wanted
      ? wanted.urls.flatMap((url) => crawl.rows.get(url) ?? []).filter(({ state }) => state === 'queued')
      : crawl.queue.take(wanted.limit, nowMs);
  return rows.map((row) => leaseRow(crawl, row, { token, untilMs: nowMs + leaseMs }));
}

export function renewLeases(crawl: MemoryCrawl, { token, leaseMs }: Lease, nowMs: number): void {
  for (const row of crawl.leased) {
    if (row.leaseToken === token && row.leaseUntilMs < nowMs + leaseMs / 2) row.leaseUntilMs = nowMs + leaseMs;
  }
}

/** Releases the leased rows that `isMeant` chooses. */
export function release(crawl: MemoryCrawl, isMeant: (row: Row) => boolean): void {
  for (const row of [...crawl.leased].filter(isMeant)) queueRow(crawl, row);
}

export function frontierRest(crawl: MemoryCrawl, nowMs: number): FrontierRest {
  let queuedCount = 0;
  let dueAtMs = Number.POSITIVE_INFINITY;
  for (const row of crawl.queue.list()) {
    queuedCount += 1;
    dueAtMs = Math.min(dueAtMs, row.dueAtMs);
  }
  const dueInMs = queuedCount === 0 ? null : Math.max(0, dueAtMs - nowMs);
  return { queuedCount, leased: crawl.leased.size > 0, dueInMs };
}

type Report = Lease & { settled: readonly SettledUrl[]; found: readonly FoundUrl[] };

/** Settles and adds URLs. Returns the counts and what was leased. */
export function settleUrls(
  crawl: MemoryCrawl,
  spill: Spill,
  { token, leaseMs, settled, found }: Report,
  nowMs: number,
): FrontierCounts & SpentCounts & { taken: LeasedUrl[] } {
  // Written first, so that nothing has changed if the disk is full.
  const files = settled.map((result) => (result.outcome === 'file' ? writeFile(spill, result) : null));
  const settling = new Set<Row>();
  for (const [index, result] of settled.entries()) {
    const row = crawl.byId[result.id - 1];
    if (row === undefined || row.leaseToken !== token) continue;
    settleRow(crawl, row, result, files[index] ?? null, nowMs);
    settling.add(row);
  }
  const taken: LeasedUrl[] = [];
  for (const each of found) {
    const known = crawl.rows.get(each.url);
    if (known === undefined) {
      const leased = addFound(crawl, each, { token, untilMs: nowMs + leaseMs });
      if (leased !== undefined) taken.push(leased);
    } else if (each.rank > known.rank) {
      known.rank = each.rank;
      if (known.outcome === 'skipped' && !settling.has(known)) bringBack(crawl, known);
    }
  }
  const { urlCount, settledCount, fileCount, decodedBytes, storedBytes } = crawl.record;
  return { urlCount, settledCount, fileCount, decodedBytes, storedBytes, taken };
}

function settleRow(crawl: MemoryCrawl, row: Row, result: SettledUrl, file: Extent | null, nowMs: number): void {
  const { record } = crawl;
  const isFile = result.outcome === 'file';
  crawl.leased.delete(row);
  row.leaseToken = null;
  row.outcome = result.outcome === 'retry' ? null : result.outcome;
  row.status = result.status;
  row.reason = 'reason' in result ? (result.reason ?? null) : null;
  row.redirectTo = result.outcome === 'redirect' ? result.redirectTo : null;
  row.isPage = isFile && result.isPage;
  row.path = isFile ? result.path : null;
  row.file = file;
  record.decodedBytes += result.decodedBytes ?? 0;
  if (isFile) {
    record.fileCount += 1;
    record.rawBytes += result.byteLength;
    record.storedBytes += result.storedBytes ?? 0;
  }
  if (result.outcome === 'retry') {
    row.failures += 1;
    row.dueAtMs = nowMs + result.dueInMs;
    queueRow(crawl, row);
  } else {
    row.state = 'settled';
    record.settledCount += 1;
  }
}

function writeFile(spill: Spill, result: Extract<SettledUrl, { outcome: 'file' }>): Extent {
  const { contentType, objectKey, byteOffset, byteLength, extractionLength, sha256 } = result;
  const { linksOffset = null, linksLength = null, etag = null, lastModified = null } = result;
  const place = { objectKey, byteOffset, byteLength, extractionLength, linksOffset, linksLength };
  return spill.write(JSON.stringify({ contentType, sha256, etag, lastModified, ...place }));
}

/** Adds a URL that the crawl doesn't have. Returns it if it was leased. */
function addFound(
  crawl: MemoryCrawl,
  { url, rank, depth, foundOn, skip, take, charset }: FoundUrl,
  lease: { token: string; untilMs: number },
): LeasedUrl | undefined {
  if (skip !== null) {
    addRow(crawl, { url, rank, depth, foundOn, state: 'settled', outcome: 'skipped', reason: skip });
    crawl.record.skippedCount += 1;
    return undefined;
  }
  const row = addRow(crawl, { url, rank, depth, foundOn, charset: charset ?? null });
  crawl.record.urlCount += 1;
  if (take) return leaseRow(crawl, row, lease);
  crawl.queue.add(row);
  return undefined;
}

function bringBack(crawl: MemoryCrawl, row: Row): void {
  row.outcome = null;
  queueRow(crawl, row);
}

/** Settles URLs, new or queued, with the files that the previous crawl has of them. */
export function settleUnchanged(
  crawl: MemoryCrawl,
  base: MemoryCrawl,
  spill: Spill,
  { unchanged, decodedBytes }: { unchanged: readonly UnchangedUrl[]; decodedBytes: number },
): void {
  const copies = unchanged.flatMap((each) => {
    const before = base.rows.get(each.url);
    const file = before?.outcome === 'file' ? fileOf(spill, before) : undefined;
    if (before === undefined || file === undefined) return [];
    const { etag, lastModified } = each;
    return [{ each, before, file, place: spill.write(JSON.stringify({ ...file, etag, lastModified })) }];
  });
  crawl.record.decodedBytes += decodedBytes;
  for (const { each, before, file, place } of copies) {
    const { url, rank, depth, foundOn } = each;
    const known = crawl.rows.get(url);
    if (known !== undefined && known.state !== 'queued') continue;
    if (known === undefined) crawl.record.urlCount += 1;
    const row = known ?? addRow(crawl, { url, rank, depth, foundOn });
    const { outcome, status, isPage, path, batch } = before;
    const result = { outcome, status, isPage, path, batch, file: place };
    Object.assign(row, result, { state: 'settled', rank: Math.max(row.rank, rank) });
    crawl.record.settledCount += 1;
    crawl.record.fileCount += 1;
    crawl.record.rawBytes += file.byteLength;
  }
}
