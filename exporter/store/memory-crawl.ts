import type {
  Crawl,
  CrawlNotice,
  LeasedUrl,
  LinksPlace,
  NewCrawl,
  StoredFile,
  StoredResponse,
} from '../crawl-records.ts';
import type { Extent, Spill } from './spill.ts';

/** What a row has of a file. It is read once or twice per export, so it is in the spill. */
export type FilePlace = Omit<StoredFile, 'isPage'> & LinksPlace & { etag: string | null; lastModified: string | null };

/** A URL of a crawl. */
export type Row = {
  readonly id: number;
  readonly url: string;
  readonly depth: number;
  readonly foundOn: string | null;
  readonly charset: string | null;
  rank: number;
  state: 'queued' | 'leased' | 'settled';
  /** Failed attempts. One that was lost with its worker doesn't count. */
  failures: number;
  /** The URL isn't leased before this time. */
  dueAtMs: number;
  leaseToken: string | null;
  leaseUntilMs: number;
  outcome: StoredResponse['outcome'] | null;
  status: number | null;
  reason: string | null;
  redirectTo: string | null;
  isPage: boolean;
  path: string | null;
  fragment: string | null;
  batch: number | null;
  /** `FilePlace` as JSON. */
  file: Extent | null;
};

export type Batch = {
  readonly number: number;
  state: 'queued' | 'leased' | 'settled';
  leaseToken: string | null;
  leaseUntilMs: number;
  /** `SettledBatch` as JSON. */
  result: Extent | null;
};

export type MemoryCrawl = {
  readonly projectId: string;
  record: Crawl;
  rows: Map<string, Row>;
  /** The same rows; that with the id N is at N - 1. */
  byId: Row[];
  queue: UrlQueue;
  leased: Set<Row>;
  batches: Batch[];
  rowsOfBatch: Map<number, Row[]>;
  notices: CrawlNotice[];
  archive: { objectKey: string; sizeBytes: number } | null;
  /** Pending while the crawl's end is being decided. */
  freezing: Promise<unknown> | undefined;
};

export function newMemoryCrawl(crawl: Omit<NewCrawl, 'takes'>, baseJobId: string | null): MemoryCrawl {
  const { jobId, settingsJson, reuseKey, keep, projectId } = crawl;
  const counts = { urlCount: 0, settledCount: 0, rawBytes: 0, skippedCount: 0, batchCount: 0, pageCount: 0 };
  const spent = { fileCount: 0, decodedBytes: 0, storedBytes: 0 };
  const given = { jobId, settingsJson, reuseKey, keep, baseJobId };
  return {
    projectId,
    record: { ...given, ...counts, ...spent, phase: 'crawling', archiveHeadBytes: null, revalidated: false },
    rows: new Map(),
    byId: [],
    queue: createUrlQueue(),
    leased: new Set(),
    batches: [],
    rowsOfBatch: new Map(),
    notices: [],
    archive: null,
    freezing: undefined,
  };
}

type NewRow = Pick<Row, 'url' | 'depth' | 'foundOn' | 'rank'> & Partial<Row>;

/** Adds a URL that the crawl doesn't have, queued unless `row` says otherwise. */
export function addRow(crawl: MemoryCrawl, row: NewRow): Row {
  const added: Row = {
    charset: null,
    state: 'queued',
    failures: 0,
    dueAtMs: 0,
    leaseToken: null,
    leaseUntilMs: 0,
    outcome: null,
    status: null,
    reason: null,
    redirectTo: null,
    isPage: false,
    path: null,
    fragment: null,
    batch: null,
    file: null,
    ...row,
    id: crawl.byId.length + 1,
  };
  crawl.rows.set(added.url, added);
  crawl.byId.push(added);
  return added;
}

export function queueRow(crawl: MemoryCrawl, row: Row): void {
  row.state = 'queued';
  row.leaseToken = null;
  crawl.leased.delete(row);
  crawl.queue.add(row);
}

export function leaseRow(crawl: MemoryCrawl, row: Row, lease: { token: string; untilMs: number }): LeasedUrl {
  row.state = 'leased';
  row.leaseToken = lease.token;
  row.leaseUntilMs = lease.untilMs;
  crawl.leased.add(row);
  const { id, url, rank, depth, failures, charset } = row;
  return { id, url, rank, depth, attempts: failures + 1, charset };
}

/** What the crawl has of a row's file; undefined if it has none. */
export function fileOf(spill: Spill, row: Row): FilePlace | undefined {
  return row.file === null ? undefined : JSON.parse(spill.read(row.file));
}

/** The files among rows. */
export function* filesOf(spill: Spill, rows: Iterable<Row>): Generator<{ row: Row; file: FilePlace }> {
  for (const row of rows) {
    const file = row.outcome === 'file' ? fileOf(spill, row) : undefined;
    if (file !== undefined) yield { row, file };
  }
}

const CHUNK_ITEMS = 1_000;

/** Rows in chunks, as a crawl store returns them. */
export function* inChunks<Item>(items: Iterable<Item>): Generator<Item[]> {
  let chunk: Item[] = [];
  for (const item of items) {
    chunk.push(item);
    if (chunk.length < CHUNK_ITEMS) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/** The queued URLs of a crawl, those nearest to the start page first, then the oldest. */
type UrlQueue = {
  add(row: Row): void;
  /** All that are queued, in order. */
  list(): Iterable<Row>;
  /** Removes up to `limit` that are due, in order. */
  take(limit: number, nowMs: number): Row[];
};

/**
 * One list per depth, ordered by id. A row that left the queue in another way than by `take` stays in its list until
 * `take` meets it.
 */
function createUrlQueue(): UrlQueue {
  const lists = new Map<number, Row[]>();

  const inOrder = (): Array<[number, Row[]]> => [...lists].sort(([a], [b]) => a - b);

  return {
    add(row) {
      const list = lists.get(row.depth);
      if (list === undefined) {
        lists.set(row.depth, [row]);
        return;
      }
      const index = placeOf(row, list);
      if (list[index] !== row) list.splice(index, 0, row);
    },

    *list() {
      for (const [, list] of inOrder()) for (const row of list) if (row.state === 'queued') yield row;
    },

    take(limit, nowMs) {
      const taken: Row[] = [];
      for (const [depth, list] of inOrder()) {
        const waiting: Row[] = [];
        let passed = 0;
        while (passed < list.length && taken.length < limit) {
          const row = list[passed];
          passed += 1;
          if (row?.state !== 'queued') continue;
          if (row.dueAtMs <= nowMs) taken.push(row);
          else waiting.push(row);
        }
        list.splice(0, passed);
        if (waiting.length > 0) lists.set(depth, waiting.concat(list));
        if (taken.length === limit) break;
      }
      return taken;
    },
  };
}

/** The index at which a row is, or would be. New rows have the highest id, so most are at the end. */
function placeOf(row: Row, list: readonly Row[]): number {
  if ((list.at(-1)?.id ?? 0) < row.id) return list.length;
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]?.id ?? 0) < row.id) low = middle + 1;
    else high = middle;
  }
  return low;
}
