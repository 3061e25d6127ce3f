import type { BatchProgress, Lease, MadeBatch, SettledBatch, SpentCounts } from '../crawl-records.ts';
import type { Batch, BatchResult, MemoryCrawl } from './memory-crawl.ts';
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
  { token, batch: made }: { token: string; batch: MadeBatch },
): SpentCounts | undefined {
  const batch = crawl.batches[made.number];
  if (batch === undefined || batch.leaseToken !== token) return undefined;
  batch.result = storeResult(spill, made);
  batch.state = 'settled';
  batch.leaseToken = null;
  crawl.record.storedBytes += made.storedBytes;
  const { fileCount, decodedBytes, storedBytes } = crawl.record;
  return { fileCount, decodedBytes, storedBytes };
}

/** Puts the texts of a batch's result into the spill. */
export function storeResult(spill: Spill, settled: SettledBatch): BatchResult {
  const { objectKey, sizeBytes, pageCount, filesJson, brokenJson, piecesJson, partsJson } = settled;
  return {
    objectKey,
    sizeBytes,
    pageCount,
    filesJson: spill.write(filesJson),
    brokenJson: brokenJson === '{}' ? null : spill.write(brokenJson),
    piecesJson: spill.write(piecesJson),
    partsJson: partsJson === null ? null : spill.write(partsJson),
  };
}

export function batchProgress({ batches }: MemoryCrawl, nowMs: number): BatchProgress {
  const settled = batches.filter(({ state }) => state === 'settled').length;
  return { total: batches.length, settled, free: batches.filter((batch) => isFree(batch, nowMs)).length };
}

export function* settledBatches({ batches }: MemoryCrawl, spill: Spill): Generator<SettledBatch> {
  for (const { number, result } of batches) {
    if (result === null) continue;
    const { objectKey, sizeBytes, pageCount, filesJson, brokenJson, piecesJson, partsJson } = result;
    yield {
      number,
      objectKey,
      sizeBytes,
      pageCount,
      filesJson: spill.read(filesJson),
      brokenJson: brokenJson === null ? '{}' : spill.read(brokenJson),
      piecesJson: spill.read(piecesJson),
      partsJson: partsJson === null ? null : spill.read(partsJson),
    };
  }
}
