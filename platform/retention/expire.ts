import { sql } from 'drizzle-orm';
import { proofFolder } from '../../exporter/object-keys.ts';
import { discardObjects } from '../store/discarded-objects.ts';
import { changeRows, type GarbageContext, type GarbageOfJob, NO_GARBAGE, namedItems } from './garbage.ts';

const DAY_MS = 86_400_000;
export const AGENT_LOGS_KEPT_MS = 90 * DAY_MS;

/**
 * Gives up the archives and reports that `EXPORT_KEEP` doesn't keep. Never those of a project's newest completed export,
 * nor what its next export or a running one reuses. The rows stay. A failed export has only a report, which is kept
 * like an archive, from its end.
 */
export async function expireExports(context: GarbageContext): Promise<GarbageOfJob> {
  const { exportKeep, at } = context;
  if (exportKeep === undefined) return NO_GARBAGE;
  const { newest, linkedWithinMs } = exportKeep;
  const linkedBefore = new Date(at.getTime() - linkedWithinMs).toISOString();
  return changeRows(context, async (tx) => {
    // The conditions on the row itself are those that PostgreSQL checks again if a link is requested meanwhile.
    const { rows } = await tx.execute<{ id: string; archive: string | null; report: string | null; bytes: number }>(sql`
      with placed as (
        select id, archive_key, report_key,
          count(*) filter (where status = 'completed') over newer as place,
          row_number() over (partition by project_id, status = 'completed' and paths_json is null
            order by sequence desc) as place_of_kind
        from export_jobs where status in ('completed', 'failed')
        window newer as (partition by project_id order by sequence desc))
      update export_jobs job set archive_key = null, report_key = null, expired_at = ${at.toISOString()}
      from placed where placed.id = job.id and job.expired_at is null
        and (job.archive_key is not null or job.report_key is not null)
        and coalesce(job.link_requested_at, case when job.status = 'failed' then job.finished_at end, '-infinity')
          < ${linkedBefore}
        and placed.place > ${newest} - (job.status = 'failed')::integer
        and not (job.status = 'completed' and job.paths_json is null and placed.place_of_kind = 1)
        and not exists (
          select from crawls c join export_jobs running on running.id = c.job_id
          where c.base_job_id = job.id and running.status in ('queued', 'running'))
      returning job.id, placed.archive_key as archive, placed.report_key as report,
        coalesce(job.archive_size_bytes, 0)::float8 as bytes`);
    const keys = rows
      .flatMap(({ id, archive, report }) => [archive, report, proofFolder(id)])
      .filter((key) => key !== null);
    await discardObjects(tx, keys, { at, dueAt: at });
    return namedItems(
      rows.map(({ id }) => id),
      rows.reduce((sum, { archive, bytes }) => sum + (archive === null ? 0 : bytes), 0),
    );
  });
}

/** Gives up the logs of agent runs that ended long ago. */
export async function expireAgentLogs(context: GarbageContext): Promise<GarbageOfJob> {
  const { at } = context;
  const endedBefore = new Date(at.getTime() - AGENT_LOGS_KEPT_MS).toISOString();
  return changeRows(context, async (tx) => {
    const { rows } = await tx.execute<{ key: string; bytes: number }>(sql`
      update agent_runs run set log_key = null, log_size_bytes = 0 from agent_runs before
      where before.job_id = run.job_id and before.run = run.run
        and run.log_key is not null and run.finished_at < ${endedBefore}
      returning before.log_key as key, before.log_size_bytes::float8 as bytes`);
    const keys = rows.map(({ key }) => key);
    await discardObjects(tx, keys, { at, dueAt: at });
    return namedItems(
      keys,
      rows.reduce((sum, { bytes }) => sum + bytes, 0),
    );
  });
}
