import { sha256Hex } from '../../base/sha256.ts';
import type { Crawl } from '../crawl-records.ts';
import type { ExportLimits } from '../limits.ts';
import type { ExportSettings } from '../settings.ts';
import type { StageDeps } from '../stage.ts';
import { engineVersion } from './engine-version.ts';

/**
 * What an export's stored bytes depend on besides the origin's responses: the engine, the project's settings, the
 * limits that shape files or pieces, and the compressors if files are precompressed. Exports may share stored bytes
 * only if their keys are equal. Leaves out what belongs to a single job, or only decides which URLs are requested or
 * compared.
 */
export function reuseKeyOf(engine: string, settings: ExportSettings, limits: ExportLimits): string {
  const { jobId: _, version: _v, createdAt: _c, pages: _p, robotsTxt: _r, twins: _t, prove: _b, ...lasting } = settings;
  const { maxBufferedBytes, pieceBytes, batchFiles, batchBytes, gzipLevel } = limits;
  const shaping = { maxBufferedBytes, pieceBytes, batchFiles, batchBytes, gzipLevel };
  const compressors = settings.precompress.length === 0 ? '' : compressorsName();
  const sorted = Object.entries({ ...lasting, ...shaping, compressors }).sort(([a], [b]) => (a < b ? -1 : 1));
  return sha256Hex(JSON.stringify([engine, sorted])).slice(0, 32);
}

/** What compressed bytes depend on besides the file: another release or processor may write others. */
function compressorsName(): string {
  const { zlib: zlibVersion, brotli: brotliVersion, zstd: zstdVersion } = process.versions;
  return [process.arch, zlibVersion, brotliVersion, zstdVersion].join(' ');
}

/**
 * The kept crawl that this worker may reuse for a job; undefined if there is none. Every stage calls this: a worker
 * whose release or limits differ from those at the job's start reuses nothing, and marks the job's crawl as not
 * reusable.
 */
export async function openPreviousCrawl(
  { store, logger, limits }: Omit<StageDeps, 'runStage'>,
  crawl: Crawl & { settings: ExportSettings },
): Promise<Crawl | undefined> {
  if (!crawl.keep && crawl.baseJobId === null) return undefined;
  const ownKey = reuseKeyOf(await engineVersion(logger), crawl.settings, limits);
  if (crawl.reuseKey !== ownKey) {
    if (crawl.keep) await store.forbidReuse(crawl.jobId);
    return undefined;
  }
  return crawl.baseJobId === null ? undefined : store.getCrawl(crawl.baseJobId);
}
