import { setTimeout as delay } from 'node:timers/promises';
import { freezeExport } from './assemble/freeze-export.ts';
import { type PackedExport, packExport } from './assemble/pack-export.ts';
import { rewriteFiles } from './assemble/rewrite-files.ts';
import { crawlSite } from './crawl/crawl-site.ts';
import { makeSitemap } from './crawl/make-sitemap.ts';
import { type ExportRequest, openExport } from './crawl/open-export.ts';
import { ExportFailure } from './export-failure.ts';
import type { ExportLimits } from './limits.ts';

export type ExportStage = 'discovering' | 'crawling' | 'visiting samples' | 'freezing' | 'rewriting' | 'packing';

const DAY_MS = 86_400_000;

/** Limits of a process that shares an export with no other: it never stops to let others take a part. */
export const SINGLE_PROCESS_LIMITS = {
  activityMs: DAY_MS,
  revalidateMs: DAY_MS,
  leaseMs: DAY_MS,
} as const satisfies Partial<ExportLimits>;

/** What the stages need, all together. */
type SiteDeps = Parameters<typeof openExport>[0] &
  Parameters<typeof crawlSite>[0] &
  Parameters<typeof rewriteFiles>[0] &
  Parameters<typeof packExport>[0];

/** The attempts of a stage that fails for a reason that may pass, such as a full disk. */
const MAX_ATTEMPTS = 3;
const RETRY_MS = 1_000;

/**
 * Exports a site in this process, without other workers. Its stages, and what they are made of:
 *
 * - `crawl/`: the settings, robots.txt and the first URLs. Then a URL is leased and visited. Its response is a file, whose
 *   bytes are stored with others in a segment object.
 * - `assemble/`: each URL gets its path in the bundle. The files are divided into batches, the unit that a worker leases. A
 *   batch is made in pieces: some files as gzip members, in the order of the archive. The manifest and all pieces are
 *   joined into the archive.
 *
 * The archive and the report are in the object store afterwards.
 * Throws `ExportFailure` if the site can't be exported, and the signal's reason.
 */
export async function exportInProcess(
  deps: SiteDeps,
  request: ExportRequest,
  { signal, onStage = () => {} }: { signal: AbortSignal; onStage?: (stage: ExportStage) => void },
): Promise<PackedExport> {
  const { jobId } = request.settings;
  const maxMs = deps.limits.activityMs;
  const run = <Result>(stage: ExportStage, work: () => Promise<Result>): Promise<Result> => {
    onStage(stage);
    return retried(work, signal);
  };
  const crawl = () => run('crawling', () => untilDone(() => crawlSite(deps, { jobId, maxMs })));

  await run('discovering', () => openExport(deps, jobId, async () => request));
  await crawl();
  if (request.settings.discover === 'browser') {
    const { visitSamples } = await import('./crawl/visit-samples.ts');
    const { foundCount } = await run('visiting samples', () => visitSamples(deps, jobId));
    if (foundCount > 0) await crawl();
  }
  await run('freezing', async () => {
    await makeSitemap(deps, jobId);
    return freezeExport(deps, jobId);
  });
  await run('rewriting', () => untilDone(() => rewriteFiles(deps, { jobId, maxMs })));
  return run('packing', () => packExport(deps, jobId));
}

async function untilDone(round: () => Promise<{ done: boolean }>): Promise<void> {
  while (!(await round()).done);
}

/** A stage continues where its last attempt was interrupted. */
async function retried<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const isFinal = error instanceof ExportFailure && error.nonRetryable;
      if (isFinal || attempt === MAX_ATTEMPTS) throw error;
      await delay(attempt * RETRY_MS, undefined, { signal });
    }
  }
}
