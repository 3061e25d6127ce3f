import type { JobMemory } from '../../../exporter/job-memory.ts';
import type { CrawlRow } from '../../store/crawls.ts';
import { resetCrawl } from '../../store/reset-crawl.ts';
import { lively } from '../lively.ts';
import type { ExportDeps } from './export-deps.ts';

/** `isAnew`: the export may go through its stages once more, from the first. */
export type BegunAnew = { isAnew: boolean };

/**
 * Begins an export anew, without the last one, after its stored input was gone: that may be what the last one stored. One
 * that took nothing over is left as it is. What it has stored itself by now goes with its end.
 */
export async function beginAnew({ db, logger }: ExportDeps, jobId: string): Promise<BegunAnew> {
  return lively({ details: () => 'beginning anew', logger }, async () => {
    const isAnew = await resetCrawl(db, jobId);
    if (isAnew) logger.warn({ jobId }, 'What the last export stored is gone; the site is fetched anew');
    return { isAnew };
  });
}

/**
 * Drops what this process remembers of a job that has begun anew since, here or elsewhere: what was in line then needn't
 * be now. For every stage that asks the memory.
 */
export function createMemoryCheck(memory: JobMemory): (crawl: Pick<CrawlRow, 'jobId' | 'baseJobId'>) => void {
  const bases = memory.place<string | null>();
  return ({ jobId, baseJobId }) => {
    if (bases(jobId, () => baseJobId) === baseJobId) return;
    memory.forget(jobId);
    bases(jobId, () => baseJobId);
  };
}
