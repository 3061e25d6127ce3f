import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pino } from 'pino';
import { BundleAcquirer } from '../../deployment/fetch/acquire-bundle.ts';
import { fetchProcess } from '../../deployment/fetch/fetch-process.ts';
import { openVersionStore } from '../../deployment/fetch/version-store.ts';
import type { ServedSite } from '../../deployment/site.ts';
import { temporaryFolder, withCleanups } from '../with-cleanups.ts';
import { folderPages, generatedPages, type Pages } from './pages.ts';
import { writeArchive } from './write-archive.ts';

export type UpdateOptions = {
  pages: number;
  /** Percent of the pages. */
  changed: number;
  runs: number;
  /** A folder to use instead of generated pages. */
  folder?: string | undefined;
};

/** Of one run: what was sent, and how long it took until the version could be served. */
export type Fetch = { bytes: number; seconds: number };

export type UpdateFigures = { archiveBytes: number; files: number; whole: Fetch[]; partial: Fetch[] };

const GIB = 1024 ** 3;
const LIMITS = { maxBundleBytes: 4 * GIB, maxUnpackedBytes: 16 * GIB, maxFiles: 1_000_000 };

/** Fetches the second edition of a site, whole into an empty deployment and as an update of the first edition. */
export async function runUpdate(
  options: UpdateOptions,
  { progress }: { progress: (text: string) => void },
): Promise<UpdateFigures> {
  return await withCleanups(async (lifetime) => {
    const folder = await temporaryFolder(lifetime, 'galley-bench-');
    const share = options.changed / 100;
    const pages =
      options.folder === undefined ? generatedPages(options.pages, share) : await folderPages(options.folder, share);
    progress('writing the archives');
    await writeArchive(join(folder, '1.tar.gz'), pages, 1);
    const archiveBytes = await writeArchive(join(folder, '2.tar.gz'), pages, 2);
    const store = await serveArchives(folder, archiveBytes);
    lifetime.add(store.close);
    const figures: UpdateFigures = { archiveBytes, files: pages.files.length, whole: [], partial: [] };
    for (let run = 1; run <= options.runs; run += 1) {
      const updated = createFetcher(await temporaryFolder(lifetime, 'galley-bench-'), store);
      const first = await updated(1, undefined);
      const partial = await updated(2, first.site);
      const whole = await createFetcher(await temporaryFolder(lifetime, 'galley-bench-'), store)(2, undefined);
      await compare(pages, partial.site, whole.site);
      figures.partial.push(partial);
      figures.whole.push(whole);
      progress(`run ${run}: ${whole.seconds.toFixed(1)} s whole, ${partial.seconds.toFixed(1)} s partial; equal files`);
    }
    return figures;
  });
}

type Store = { origin: string; sentBytes(): number; close(): Promise<void> };

/** Serves the two archives with ranges. */
async function serveArchives(folder: string, size: number): Promise<Store> {
  let sent = 0;
  const server = createServer((request, response) => {
    const path = join(folder, request.url === '/1' ? '1.tar.gz' : '2.tar.gz');
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const total = request.url === '/1' ? undefined : size;
    const body = createReadStream(path, from === undefined ? {} : { start: Number(from), end: Number(to) });
    body.on('data', (chunk) => {
      sent += chunk.length;
    });
    if (from !== undefined) response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${total}`, etag: '"2"' });
    void pipeline(body, response).catch(() => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return {
    origin: `http://127.0.0.1:${port}`,
    sentBytes: () => sent,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Fetcher = (edition: 1 | 2, current: ServedSite | undefined) => Promise<Fetch & { site: ServedSite }>;

/** A deployment's own way from a link to a version that can be served. */
function createFetcher(home: string, store: Store): Fetcher {
  let acquirer: BundleAcquirer | undefined;
  return async (edition, current) => {
    acquirer ??= new BundleAcquirer({
      store: await openVersionStore(join(home, 'versions')),
      fetcher: fetchProcess,
      downloadsFolder: join(home, 'downloads'),
      limits: LIMITS,
      logger: pino({ level: 'warn' }, process.stderr),
    });
    const sentBefore = store.sentBytes();
    const startedMs = performance.now();
    const { site } = await acquirer.acquire({
      link: new URL(`${store.origin}/${edition}`),
      pinnedVersion: undefined,
      required: {},
      state: { formatVersion: 1, enabled: true, current: null, previous: [] },
      current,
      revalidate: false,
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
    return { site, bytes: store.sentBytes() - sentBefore, seconds: (performance.now() - startedMs) / 1_000 };
  };
}

/** @throws Error if the trees differ from what was published */
async function compare({ files, read }: Pages, ...sites: ServedSite[]): Promise<void> {
  for (const { path } of files) {
    const published = await read(path, 2);
    for (const { root } of sites) {
      if (!(await readFile(join(root, path))).equals(published)) throw new Error(`${path} differs in ${root}`);
    }
  }
}
