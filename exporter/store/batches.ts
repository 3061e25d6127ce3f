import type {
  BatchProgress,
  FrozenUrl,
  Lease,
  MadeBatch,
  SettledBatch,
  SettledRow,
  SpentCounts,
} from '../crawl-records.ts';
import type { CrawlStore } from '../ports.ts';
import { frontierRest } from './frontier.ts';
import { type Batch, fileOf, inChunks, type MemoryCrawl, type Row } from './memory-crawl.ts';
import type { Spill } from './spill.ts';

function isFree(batch: Batch, nowMs: number): boolean {
  return batch.state === 'queued' || (batch.state === 'leased' && batch.leaseUntilMs < nowMs);
}

export function leaseBatches(
  crawl: MemoryCrawl,
  { token, leaseMs, limit }: Lease & { limit: number },
  nowMs: number,
): number[] {
  const free = crawl.batches.filter((batch) => isFree(batch, nowMs)).slice(0, limit);
  for (const batch of free) Object.assign(batch, { state: 'leased', leaseToken: token, leaseUntilMs: nowMs + leaseMs });
  return free.map(({ number }) => number);
}

export function renewBatches(crawl: MemoryCrawl, { token, leaseMs }: Lease, nowMs: number): void {
  for (const batch of crawl.batches) {
    if (batch.state === 'leased' && batch.leaseToken === token) batch.leaseUntilMs = nowMs + leaseMs;
  }
}

export function releaseBatches(crawl: MemoryCrawl, tokens: readonly string[]): void {
  for (const batch of crawl.batches) {
    if (batch.state !== 'leased' || !tokens.includes(batch.leaseToken ?? '')) continue;
    batch.state = 'queued';
    batch.leaseToken = null;
  }
}

export function settleBatch(
  crawl: MemoryCrawl,
  spill: Spill,
  { token, batch: { storedBytes, ...settled } }: { token: string; batch: MadeBatch },
): SpentCounts | undefined {
  const { record, batches } = crawl;
  const batch = batches[settled.number];
  if (batch === undefined || batch.leaseToken !== token) return undefined;
  batch.result = spill.write(JSON.stringify(settled));
  batch.state = 'settled';
  batch.leaseToken = null;
  record.storedBytes += storedBytes;
  return { fileCount: record.fileCount, decodedBytes: record.decodedBytes, storedBytes: record.storedBytes };
}

export function batchProgress({ batches }: MemoryCrawl, nowMs: number): BatchProgress {
  const settled = batches.filter(({ state }) => state === 'settled').length;
  return { total: batches.length, settled, free: batches.filter((batch) => isFree(batch, nowMs)).length };
}

export function* settledBatches({ batches }: MemoryCrawl, spill: Spill, wanted?: number): Generator<SettledBatch> {
  for (const { number, result } of batches) {
    if (result === null || (wanted !== undefined && number !== wanted)) continue;
    const settled: SettledBatch = JSON.parse(spill.read(result));
    yield settled;
  }
}

/** Ends a crawl as `decide` says. The caller keeps everything else from changing it meanwhile. */
export async function freezeCrawl(
  crawl: MemoryCrawl,
  spill: Spill,
  decide: Parameters<CrawlStore['freeze']>[1],
  nowMs: number,
): Promise<void> {
  const { queuedCount, leased } = frontierRest(crawl, nowMs);
  const rows = settledRows(crawl, spill);
  const plan = await decide({ ...crawl.record, queuedCount, leased, rows });
  // Collected first: if a decision throws, none is written.
  for (const frozen of [...plan.frozen]) writeFrozen(crawl, frozen);
  const { batchCount, pageCount } = plan;
  crawl.batches = Array.from({ length: batchCount }, (_, number) => ({
    number,
    state: 'queued',
    leaseToken: null,
    leaseUntilMs: 0,
    result: null,
  }));
  for (const row of crawl.byId) {
    if (row.batch === null) continue;
    const ofBatch = crawl.rowsOfBatch.get(row.batch);
    if (ofBatch === undefined) crawl.rowsOfBatch.set(row.batch, [row]);
    else ofBatch.push(row);
  }
  Object.assign(crawl.record, { phase: 'frozen', batchCount, pageCount });
}

function writeFrozen(crawl: MemoryCrawl, { id, ...frozen }: FrozenUrl): void {
  const row = crawl.byId[id - 1];
  if (row === undefined) return;
  const { outcome, reason, redirectTo, path, fragment, batch } = frozen;
  Object.assign(row, { outcome, reason, redirectTo, path, fragment, batch });
}

async function* settledRows(crawl: MemoryCrawl, spill: Spill): AsyncGenerator<SettledRow[]> {
  yield* inChunks(readSettled(crawl, spill));
}

function* readSettled(crawl: MemoryCrawl, spill: Spill): Generator<SettledRow> {
  for (const row of crawl.byId)
    if (row.outcome !== null && row.state === 'settled') yield settledRow(row, row.outcome, spill);
}

function settledRow(row: Row, outcome: SettledRow['outcome'], spill: Spill): SettledRow {
  const { id, url, rank, status, reason, redirectTo, isPage, batch } = row;
  const file = fileOf(spill, row);
  return {
    id,
    url,
    rank,
    outcome,
    status,
    reason,
    redirectTo,
    contentType: file?.contentType ?? null,
    isPage,
    byteLength: file?.byteLength ?? null,
    sha256: file?.sha256 ?? null,
    path: batch === null ? null : row.path,
    batch,
  };
}
