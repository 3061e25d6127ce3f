import { LRUCache } from 'lru-cache';
import { WORK_FOLDER } from '../exporter/object-keys.ts';
import { deleteEach } from './objects/delete-each.ts';
import type { ObjectStore } from './objects/object-store.ts';
import type { Database } from './store/database.ts';
import { getExportJob } from './store/export-jobs.ts';
import { forgetCrawls, projectsToForget, usedObjects } from './store/kept-crawls.ts';

/** Projects whose used objects are cached: a project's jobs aren't adjacent in the store. */
const MAX_PROJECTS = 1_000;

/** The job that an object belongs to. */
function jobOf(key: string): string {
  return key.slice(WORK_FOLDER.length).split('/', 1)[0] ?? '';
}

/**
 * Deletes objects of ended jobs that aren't their archive or report and that the project's next export can't reuse.
 * Workers leave them if they write after the clean-up or die during it. Only jobs that ended before `endedBefore` in
 * this database count, because other objects may be another platform's. Returns the number of deleted objects.
 */
export async function sweepExports({
  db,
  objects,
  endedBefore,
  signal,
}: {
  db: Database;
  objects: ObjectStore;
  endedBefore: Date;
  signal: AbortSignal;
}): Promise<number> {
  // Read once: jobs that ended before can't begin to use more.
  const usedOf = new LRUCache<string, ReadonlySet<string>>({
    max: MAX_PROJECTS,
    fetchMethod: (projectId) => usedObjects(db, projectId, WORK_FOLDER),
  });

  async function* unused(): AsyncGenerator<string> {
    for (const projectId of await projectsToForget(db, endedBefore)) {
      if (signal.aborted) return;
      yield* await forgetCrawls(db, projectId);
    }
    let jobId = '';
    let isOver = false;
    let used: ReadonlySet<string> = new Set();
    // Keys are sorted, so a job's objects are adjacent.
    for await (const key of objects.list(WORK_FOLDER)) {
      if (signal.aborted) return;
      if (jobOf(key) !== jobId) {
        jobId = jobOf(key);
        const job = await getExportJob(db, jobId);
        isOver = job !== undefined && job.finishedAt !== null && job.finishedAt < endedBefore;
        if (job !== undefined && isOver) used = await usedOf.forceFetch(job.projectId);
      }
      if (isOver && !used.has(key)) yield key;
    }
  }
  return await deleteEach(objects, unused());
}
