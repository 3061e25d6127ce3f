import type {
  FindingsSelect,
  FoundUrl,
  LeasedUrl,
  MadeBatch,
  NewCrawl,
  SettledRow,
  SettledUrl,
} from '../../../exporter/crawl-records.ts';
import type { CrawlStore } from '../../../exporter/ports.ts';

/** A crawl store, and a way to create its jobs. */
export type CrawlStoreFixture = {
  readonly store: CrawlStore;
  /** Creates a job that may start its crawl, for a new project unless one is given. */
  newJob(projectId?: string): Promise<{ jobId: string; projectId: string }>;
};

export const leaseMs = 60_000;

export function found(path: string, change: Partial<FoundUrl> = {}): FoundUrl {
  return { url: `https://d.example${path}`, rank: 5, depth: 1, foundOn: null, skip: null, take: false, ...change };
}

type SettledFile = Extract<SettledUrl, { outcome: 'file' }>;

export function file(id: number, path: string, change: Partial<SettledFile> = {}): SettledUrl {
  const place = { objectKey: 'segment', byteOffset: 0, byteLength: 10, extractionLength: 2 };
  const kind = { status: 200, contentType: 'text/html', isPage: true, sha256: 'hash' };
  return { id, outcome: 'file', path, decodedBytes: 10, storedBytes: 12, ...place, ...kind, ...change };
}

/** A batch's result. */
export function made(number: number, change: Partial<MadeBatch> = {}): MadeBatch {
  const texts = { filesJson: '[]', brokenJson: '{}', piecesJson: '[]', partsJson: null };
  return { number, objectKey: 'm', sizeBytes: 9, storedBytes: 5, pageCount: 0, ...texts, ...change };
}

/** What to read for a job's report. */
export function findingsOf(jobId: string): FindingsSelect {
  return { jobId, minRank: 5, limit: 9, maxExamples: 2, ownPrefix: `exports/${jobId}/` };
}

export async function listed<Item>(chunks: AsyncIterable<Item[]>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const chunk of chunks) items.push(...chunk);
  return items;
}

/** Opens an empty crawl for each test. Read `store` and `jobId` only inside a test. */
export function useCrawl(fixture: CrawlStoreFixture) {
  let job: { jobId: string; projectId: string };

  const openJob = async (change: Partial<NewCrawl> = {}): Promise<{ jobId: string; projectId: string }> => {
    const opened = await fixture.newJob(change.projectId);
    await fixture.store.openCrawl({
      ...opened,
      ...{ settingsJson: '{}', reuseKey: 'key', takes: false, keep: false },
      ...change,
    });
    return opened;
  };

  beforeEach(async () => {
    job = await openJob();
  });

  return {
    get store() {
      return fixture.store;
    },
    get jobId() {
      return job.jobId;
    },
    openJob,
    add: (...urls: FoundUrl[]) => addTo(fixture.store, job.jobId, urls),
    lease: (token: string, limit = 10) => fixture.store.leaseUrls({ jobId: job.jobId, token, limit, leaseMs }),
  };
}

export type CrawlFixture = ReturnType<typeof useCrawl>;

export function addTo(store: CrawlStore, jobId: string, urls: readonly FoundUrl[]) {
  return store.settleUrls({ jobId, token: 'seed', leaseMs, settled: [], found: urls });
}

/** Adds URLs and settles them with the results of `resultOf`. */
export async function settleAll(
  store: CrawlStore,
  jobId: string,
  paths: readonly string[],
  resultOf: (leased: LeasedUrl, path: string) => SettledUrl,
): Promise<void> {
  await addTo(
    store,
    jobId,
    paths.map((path) => found(path)),
  );
  const leased = await store.leaseUrls({ jobId, token: 'one', limit: paths.length, leaseMs });
  const settled = leased.map((each) => resultOf(each, new URL(each.url).pathname));
  await store.settleUrls({ jobId, token: 'one', leaseMs, settled, found: [] });
}

/** Freezes a crawl. `batchOf` assigns the batch of each file. */
export async function freezeAll(
  store: CrawlStore,
  jobId: string,
  batchOf: (row: SettledRow) => number | null = () => null,
): Promise<SettledRow[]> {
  const rows: SettledRow[] = [];
  await store.freeze(jobId, async (crawl) => {
    rows.push(...(await listed(crawl.rows)));
    const frozen = rows.map((row) => {
      const { id, outcome, reason, redirectTo, url } = row;
      const path = outcome === 'file' || outcome === 'redirect' ? `${new URL(url).pathname.slice(1)}.html` : null;
      return { id, outcome, reason, redirectTo, path, fragment: null, batch: batchOf(row) };
    });
    const batchCount = 1 + Math.max(-1, ...frozen.map(({ batch }) => batch ?? -1));
    return { frozen, batchCount, pageCount: frozen.length };
  });
  return rows;
}
