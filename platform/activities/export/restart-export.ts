import type { Logger } from 'pino';
import type { Database } from '../../store/database.ts';
import { resetCrawl } from '../../store/reset-crawl.ts';
import { lively } from '../lively.ts';

/** `isAnew`: the export may go through its stages once more, from the first. */
export type BegunAnew = { isAnew: boolean };

/**
 * Begins an export anew, without the last one, after its stored input was gone: that may be what the last one stored. One
 * that took nothing over is left as it is. What it has stored itself by now goes with its end.
 */
export async function beginAnew({ db, logger }: { db: Database; logger: Logger }, jobId: string): Promise<BegunAnew> {
  return lively({ details: () => 'beginning anew', logger }, async () => {
    const isAnew = await resetCrawl(db, jobId);
    if (isAnew) logger.warn({ jobId }, 'What the last export stored is gone; the site is fetched anew');
    return { isAnew };
  });
}
