import type { Logger } from 'pino';
import type { Database } from '../../store/database.ts';
import { resetCrawl } from '../../store/reset-crawl.ts';
import { withHeartbeat } from '../with-heartbeat.ts';

/** `isAnew`: the export may go through its stages again, from the first. */
type RestartedExport = { isAnew: boolean };

/**
 * Restarts an export without reusing the previous one, after an object that it needs was gone: the previous export may
 * have stored it. An export that reused nothing is left as it is. What it has stored is deleted when it ends.
 */
export async function restartExport(
  { db, logger }: { db: Database; logger: Logger },
  jobId: string,
): Promise<RestartedExport> {
  return withHeartbeat({ details: () => 'beginning anew', logger }, async () => {
    const isAnew = await resetCrawl(db, jobId);
    if (isAnew) logger.warn({ jobId }, 'What the last export stored is gone; the site is fetched anew');
    return { isAnew };
  });
}
