import { LRUCache } from 'lru-cache';
import { WORK_FOLDER } from '../../exporter/object-keys.ts';
import { getExportJob } from '../store/export-jobs.ts';
import { forgetCrawls, projectsToForget, usedObjects } from '../store/kept-crawls.ts';
import { addGarbage, changeRows, type GarbageContext, type GarbageOfJob, NO_GARBAGE, takeObjects } from './garbage.ts';

/** Projects whose used objects are cached: a project's jobs aren't adjacent in the store. */
const MAX_PROJECTS = 1_000;

/** A worker that returns later than this after its job's end leaves objects for the next sweep. */
export const SWEEP_AFTER_MS = 600_000;

/** The job that an object belongs to. */
function jobOf(key: string): string {
  return key.slice(WORK_FOLDER.length).split('/', 1)[0] ?? '';
}

/**
 * Deletes the crawls and objects of ended jobs that the project's next export can't reuse, except archives and reports.
 * Workers leave them if they write after the clean-up or die during it. Only jobs that ended in this database a while
 * ago count.
 */
export async function sweepExports(context: GarbageContext): Promise<GarbageOfJob> {
  const { db, objects, at, signal } = context;
  const endedBefore = new Date(at.getTime() - SWEEP_AFTER_MS);
  // Read once: jobs that ended before can't begin to use more.
  const usedOf = new LRUCache<string, ReadonlySet<string>>({
    max: MAX_PROJECTS,
    fetchMethod: (projectId) => usedObjects(db, projectId, WORK_FOLDER),
  });
  let swept = NO_GARBAGE;
  for (const projectId of await projectsToForget(db, endedBefore)) {
    signal.throwIfAborted();
    swept = addGarbage(
      swept,
      await takeObjects(context, await changeRows(context, (tx) => forgetCrawls(tx, projectId))),
    );
  }

  async function* unused(): AsyncGenerator<string> {
    let jobId = '';
    let isOver = false;
    let used: ReadonlySet<string> = new Set();
    // Keys are sorted, so a job's objects are adjacent.
    for await (const key of objects.list(WORK_FOLDER)) {
      signal.throwIfAborted();
      if (jobOf(key) !== jobId) {
        jobId = jobOf(key);
        const job = await getExportJob(db, jobId);
        isOver = job !== undefined && job.finishedAt !== null && job.finishedAt < endedBefore;
        if (job !== undefined && isOver) used = await usedOf.forceFetch(job.projectId);
      }
      if (isOver && !used.has(key)) yield key;
    }
  }
  return addGarbage(swept, await takeObjects(context, unused()));
}
