import type { Logger } from 'pino';
import { z } from 'zod';
import { BUNDLES_FOLDER, WORK_FOLDER } from '../../exporter/object-keys.ts';
import { dropUnfinished } from '../objects/drop-unfinished.ts';
import { deleteDiscarded } from './delete-discarded.ts';
import { discardOwnerless } from './discard-ownerless.ts';
import { expireAgentLogs, expireExports } from './expire.ts';
import { addGarbage, type Garbage, type GarbageContext, type GarbageOfJob, garbage, namedItems } from './garbage.ts';
import { rowJobs } from './row-jobs.ts';
import { sweepExports } from './sweep-exports.ts';
import { sweepPacks } from './sweep-packs.ts';
import { vacuum } from './vacuum.ts';

export const collectGarbageRequest = z.strictObject({ dryRun: z.boolean() });
export const collectedGarbage = z.object({ dryRun: z.boolean(), jobs: z.array(garbage) });
export type CollectedGarbage = z.infer<typeof collectedGarbage>;

/** No activity that uploads may take longer than a quarter of this. */
const UPLOAD_MS = 86_400_000;

type Context = GarbageContext & { logger: Logger };

/** The jobs in their order: the first ones hand objects to `discarded`. docs/operate/retention.md names each. */
export const GARBAGE_JOBS: Record<string, (context: Context) => Promise<GarbageOfJob>> = {
  exports: expireExports,
  'agent-logs': expireAgentLogs,
  ...rowJobs,
  leftovers: async (context) => addGarbage(await sweepExports(context), await sweepPacks(context)),
  ownerless: discardOwnerless,
  discarded: deleteDiscarded,
  uploads: async ({ objects, logger, at, dryRun }) => {
    const begunBefore = new Date(at.getTime() - UPLOAD_MS);
    const prefixes = [WORK_FOLDER, BUNDLES_FOLDER];
    const { items, sizeBytes } = await dropUnfinished({ objects, logger }, { prefixes, begunBefore, dryRun });
    return namedItems(items, sizeBytes);
  },
  vacuum,
};

/**
 * Runs all jobs that delete what is no longer kept, or finds what they would delete. Each job is idempotent, so any
 * number of processes may do so at once. A failed job doesn't keep the others from running.
 */
export async function collectGarbage(context: Context): Promise<CollectedGarbage> {
  const { dryRun, signal, logger } = context;
  const jobs: Garbage[] = [];
  const failures: unknown[] = [];
  for (const [job, run] of Object.entries(GARBAGE_JOBS)) {
    signal.throwIfAborted();
    try {
      const { count, ...found } = await run(context);
      jobs.push({ job, count, ...found });
      if (count > 0 && !dryRun) logger.info({ job, count }, 'Deleted what is no longer kept');
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return { dryRun, jobs };
}
