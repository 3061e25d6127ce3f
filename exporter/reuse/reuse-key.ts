import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Crawl } from '../crawl-records.ts';
import type { ExportLimits } from '../limits.ts';
import type { CrawlStore } from '../ports.ts';
import { readIfThere } from '../read-if-there.ts';
import type { ExportSettings } from '../settings.ts';

/**
 * What an export's stored bytes depend on besides the origin's responses: the engine, the project's settings, the
 * limits that shape files or pieces, and the compressors if files are precompressed. Exports may share stored bytes
 * only if their keys are equal. Leaves out what belongs to a single job, or only decides which URLs are requested.
 */
export function reuseKeyOf(engine: string, settings: ExportSettings, limits: ExportLimits): string {
  const { jobId: _, version: _v, createdAt: _c, pages: _p, robotsTxt: _r, ...lasting } = settings;
  const { maxBufferedBytes, pieceBytes, batchFiles, batchBytes, gzipLevel } = limits;
  const shaping = { maxBufferedBytes, pieceBytes, batchFiles, batchBytes, gzipLevel };
  const compressors = settings.precompress.length === 0 ? '' : compressorsName();
  const sorted = Object.entries({ ...lasting, ...shaping, compressors }).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([engine, sorted]))
    .digest('hex')
    .slice(0, 32);
}

/** What compressed bytes depend on besides the file: another release or processor may write others. */
export function compressorsName(): string {
  const { zlib: zlibVersion, brotli: brotliVersion, zstd: zstdVersion } = process.versions;
  return [process.arch, zlibVersion, brotliVersion, zstdVersion].join(' ');
}

type BaseDeps = { store: CrawlStore; logger: Logger; limits: ExportLimits };

/**
 * The kept crawl that this worker may reuse for a job; undefined if there is none. Every stage calls this: a worker
 * whose release or limits differ from those at the job's start reuses nothing, and marks the job's crawl as not
 * reusable.
 */
export async function openPreviousCrawl(
  { store, logger, limits }: BaseDeps,
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

const ENGINE_FOLDER = fileURLToPath(new URL('..', import.meta.url));

let reading: Promise<string> | undefined;

/**
 * A name for the code that makes an export: a hash of the exporter's program files, the package file, the lock file if
 * there is one, and the version of Node, whose zlib compresses. So a release never reuses what another one would have
 * stored differently, without a version number to maintain. Computed once per process.
 */
export function engineVersion(logger: Logger): Promise<string> {
  reading ??= hashProgram(ENGINE_FOLDER).catch((error: unknown) => {
    logger.warn({ err: error }, 'The export engine can not read its own files, so exports reuse nothing');
    return randomUUID();
  });
  return reading;
}

/** Hashes the program files in a folder and what they run with. */
export async function hashProgram(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const programs = names.filter((name) => /(?<!\.d)\.[jt]s$/.test(name)).sort();
  const hash = createHash('sha256').update(process.versions.node);
  for (const bytes of await readPackageFiles(folder)) hash.update(bytes);
  for (const name of programs) hash.update(name).update(await readFile(join(folder, name)));
  return hash.digest('hex').slice(0, 32);
}

/** The nearest package file above a folder, and its lock file: the depth differs between source and build. */
async function readPackageFiles(folder: string): Promise<Buffer[]> {
  const packageFile = await readIfThere(join(folder, 'package.json'));
  if (packageFile === undefined) {
    if (dirname(folder) === folder) throw new Error('There is no package file above the program');
    return readPackageFiles(dirname(folder));
  }
  const lock = await readIfThere(join(folder, 'package-lock.json'));
  return lock === undefined ? [packageFile] : [packageFile, lock];
}
