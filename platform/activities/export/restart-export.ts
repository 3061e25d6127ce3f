import type { Logger } from 'pino';
import type { Database } from '../../store/database.ts';
import { resetCrawl } from '../../store/reset-crawl.ts';
import { withHeartbeat } from '../with-heartbeat.ts';

/** `isAnew`: the export restarts from its first stage. The name is part of recorded histories. */
type RestartedExport = { isAnew: boolean };

/**
 * Restarts an export without reusing the previous one, because an object is missing that the previous export may
 * have stored. An export that reused nothing isn't changed. What it has stored is deleted when it ends.
 */
export async function restartExport(
  { db, logger }: { db: Database; logger: Logger },
  jobId: string,
): Promise<RestartedExport> {
  return withHeartbeat({ details: () => 'restarting', logger }, async () => {
    const isReset = await resetCrawl(db, jobId);
    if (isReset) logger.warn({ jobId }, 'An object of the previous export is missing; the whole site is fetched again');
    return { isAnew: isReset };
  });
}
