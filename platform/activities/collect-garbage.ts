import type { Logger } from 'pino';
import type { ObjectStore } from '../objects/object-store.ts';
import { collectGarbage } from '../retention/collect-garbage.ts';
import type { ExportKeep } from '../retention/export-keep.ts';
import type { Database } from '../store/database.ts';
import { withHeartbeat } from './with-heartbeat.ts';

export type GarbageActivityDeps = {
  db: Database;
  objects: ObjectStore;
  logger: Logger;
  /** Undefined: all exports are kept. */
  exportKeep?: ExportKeep | undefined;
};

export function createGarbageActivities({ db, objects, logger, exportKeep }: GarbageActivityDeps) {
  return {
    collectGarbage: () =>
      withHeartbeat({ details: () => 'deleting what is no longer kept', logger }, async ({ signal }) => {
        const context = { db, objects, logger, exportKeep, at: new Date(), dryRun: false, signal };
        const { jobs } = await collectGarbage(context);
        return Object.fromEntries(jobs.map(({ job, count }) => [job, count]));
      }),
  };
}
