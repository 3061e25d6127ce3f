import { createHash } from 'node:crypto';
import type { SettledBatch } from '../crawl-records.ts';
import { settledBatches } from './batches.ts';
import { type FilePlace, fileOf, type MemoryCrawl, newMemoryCrawl, type Row } from './memory-crawl.ts';
import type { Spill } from './spill.ts';

type SavedHead = Pick<MemoryCrawl, 'projectId' | 'record' | 'archive'> & { rowCount: number };
type SavedRow = Omit<Row, 'file'> & { file: FilePlace | null };

/**
 * A completed crawl as lines of text, for the next export in another process: what it is, its rows, its batches, and
 * last the hash of all that.
 */
export function* saveCrawl(crawl: MemoryCrawl, spill: Spill): Generator<string> {
  const hash = createHash('sha256');
  for (const line of linesOf(crawl, spill)) {
    hash.update(line);
    yield line;
  }
  yield hash.digest('hex');
}

function* linesOf(crawl: MemoryCrawl, spill: Spill): Generator<string> {
  const { projectId, record, archive, byId } = crawl;
  yield JSON.stringify({ projectId, record, archive, rowCount: byId.length } satisfies SavedHead);
  for (const row of byId) yield JSON.stringify({ ...row, file: fileOf(spill, row) ?? null } satisfies SavedRow);
  for (const batch of settledBatches(crawl, spill)) yield JSON.stringify(batch satisfies SettledBatch);
}

/** Whether the lines are all that `saveCrawl` wrote, and their first one; undefined if not. */
export async function readIntactHead(lines: AsyncIterable<string>): Promise<{ reuseKey: string | null } | undefined> {
  const hash = createHash('sha256');
  let first: string | undefined;
  let last: string | undefined;
  for await (const line of lines) {
    if (last !== undefined) hash.update(last);
    first ??= line;
    last = line;
  }
  if (first === undefined || last !== hash.digest('hex')) return undefined;
  const { record }: SavedHead = JSON.parse(first);
  return { reuseKey: record.reuseKey };
}

/** Reads a crawl that this version has saved into memory and the spill. */
export async function loadCrawl(lines: AsyncIterable<string>, spill: Spill): Promise<MemoryCrawl> {
  let crawl: MemoryCrawl | undefined;
  let rowCount = 0;
  for await (const line of lines) {
    if (crawl === undefined) {
      const head: SavedHead = JSON.parse(line);
      const { projectId, record, archive } = head;
      const opened = { ...record, projectId, reuseKey: record.reuseKey ?? '' };
      crawl = { ...newMemoryCrawl(opened, record.baseJobId), record, archive };
      rowCount = head.rowCount;
    } else if (crawl.byId.length < rowCount) {
      const { file, ...saved }: SavedRow = JSON.parse(line);
      const row = { ...saved, file: file && spill.write(JSON.stringify(file)) };
      crawl.rows.set(row.url, row);
      crawl.byId.push(row);
    } else if (crawl.batches.length < crawl.record.batchCount) {
      const { number }: SettledBatch = JSON.parse(line);
      const result = spill.write(line);
      crawl.batches.push({ number, state: 'settled', leaseToken: null, leaseUntilMs: 0, result });
    }
  }
  if (crawl === undefined) throw new Error('There is no saved crawl');
  return crawl;
}
