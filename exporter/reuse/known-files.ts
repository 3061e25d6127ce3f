import type { KnownFile } from '../crawl-records.ts';
import { type JobMemory, placeForReading } from '../job-cache.ts';
import type { CrawlStore } from '../ports.ts';

/** The files that a kept crawl has for addresses. */
export type KnownFiles = {
  of(url: string): Promise<KnownFile | undefined>;
  /** The file, for those who needn't wait then; undefined also where it wasn't read yet. */
  atHand(url: string): KnownFile | undefined;
};

type FileMap = ReadonlyMap<string, KnownFile>;

export type KnownFilesFor = (job: { jobId: string; base: { jobId: string; urlCount: number } }) => KnownFiles;

/** Up to this many addresses the kept crawl is read whole instead of being asked address by address. */
export const MAX_WHOLE = 50_000;

/**
 * The files of the kept crawl that a job takes from. A small one is read whole, once for all that crawls the job in
 * this process; of a large one, addresses asked for in the same moment are looked up by one statement.
 */
export function rememberKnownFiles(store: CrawlStore, memory: JobMemory): KnownFilesFor {
  const whole = placeForReading<FileMap>(memory);
  return ({ jobId, base }) => {
    if (base.urlCount > MAX_WHOLE) return fromBatches(store, base.jobId);
    const reading = whole(jobId);
    let files: FileMap | undefined;
    return {
      async of(url) {
        files ??= await reading(() => collect(store.knownFiles(base.jobId)));
        return files.get(url);
      },
      atHand: (url) => files?.get(url),
    };
  };
}

function fromBatches(store: CrawlStore, jobId: string): KnownFiles {
  let batch: { urls: string[]; answer: Promise<FileMap> } | undefined;
  return {
    async of(url) {
      if (batch === undefined) {
        const urls: string[] = [];
        const answer = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
          batch = undefined;
          return collect(store.knownFiles(jobId, urls));
        });
        batch = { urls, answer };
      }
      batch.urls.push(url);
      return (await batch.answer).get(url);
    },
    atHand: () => undefined,
  };
}

async function collect(pieces: AsyncIterable<KnownFile[]>): Promise<FileMap> {
  const files = new Map<string, KnownFile>();
  for await (const rows of pieces) for (const row of rows) files.set(row.url, row);
  return files;
}
