import { sql } from 'drizzle-orm';
import type { Executor, Transaction } from './database.ts';
import { deleteCrawlRows, lockCrawlsOf } from './kept-crawls.ts';
import { lockUntilCommit } from './locks.ts';
import { deleteProject } from './projects.ts';

/** What is deleted with a project. `running`: the ids of its jobs that haven't ended. */
export type ProjectContents = {
  exports: number;
  bundles: number;
  bundleBytes: number;
  agentJobs: number;
  runningExports: string[];
  runningAgentJobs: string[];
};

export async function readProjectContents(db: Executor, projectId: string): Promise<ProjectContents> {
  const exports = await db.execute<Omit<ProjectContents, 'agentJobs' | 'runningAgentJobs'>>(sql`
    select count(*)::integer as exports, count(archive_key)::integer as bundles,
      coalesce(sum(archive_size_bytes) filter (where archive_key is not null), 0)::float8 as "bundleBytes",
      coalesce(array_agg(id) filter (where status in ('queued', 'running')), '{}') as "runningExports"
    from export_jobs where project_id = ${projectId}`);
  const agents = await db.execute<Pick<ProjectContents, 'agentJobs' | 'runningAgentJobs'>>(sql`
    select count(*)::integer as "agentJobs",
      coalesce(array_agg(id) filter (where status = 'active'), '{}') as "runningAgentJobs"
    from agent_jobs where project_id = ${projectId}`);
  const [ofExports, ofAgents] = [exports.rows[0], agents.rows[0]];
  if (ofExports === undefined || ofAgents === undefined) throw new Error('The database counted nothing');
  return { ...ofExports, ...ofAgents };
}

/**
 * Takes the locks of everything that adds to a project until the transaction ends: starts of exports, prompts, kept
 * crawls. Callers that add rows take their locks in this order, so none waits in a circle.
 */
export async function lockProject(tx: Transaction, project: { id: string; organizationId: string }): Promise<void> {
  const { id, organizationId } = project;
  for (const name of [`static-export:${organizationId}`, `agent:${id}`, `project:${id}`]) {
    await lockUntilCommit(tx, name);
  }
  await lockCrawlsOf(tx, id);
}

/**
 * Deletes a project with its ended jobs. Their stored objects are marked, and `galley gc` deletes them. Pull requests
 * stay, because their repository does. False if there is no such project. The caller holds the project's locks.
 */
export async function deleteProjectWithJobs(tx: Transaction, projectId: string): Promise<boolean> {
  await discardObjects(tx, projectId);
  await forgetResponses(tx, projectId);
  const exports = sql`select id from export_jobs where project_id = ${projectId}`;
  await deleteCrawlRows(tx, sql`array(${exports})`);
  await tx.execute(sql`delete from export_jobs where project_id = ${projectId}`);
  await tx.execute(sql`delete from agent_jobs where project_id = ${projectId}`);
  await tx.execute(sql`delete from forge_deliveries where project_id = ${projectId}`);
  await tx.execute(sql`update pull_requests set project_id = null where project_id = ${projectId}`);
  return deleteProject(tx, projectId);
}

/** Gives a project with its jobs to another organization, and ends the keys for it alone. The caller holds its locks. */
export async function giveProjectTo(tx: Transaction, projectId: string, organizationId: string): Promise<void> {
  await forgetResponses(tx, projectId);
  await tx.execute(sql`
    update api_keys set revoked_at = now() where project_id = ${projectId} and revoked_at is null`);
  await tx.execute(sql`update projects set organization_id = ${organizationId} where id = ${projectId}`);
  for (const jobs of [sql`export_jobs`, sql`agent_jobs`]) {
    await tx.execute(sql`update ${jobs} set organization_id = ${organizationId} where project_id = ${projectId}`);
  }
}

/** The keys are those of `exporter/object-keys.ts` and `activities/agent/object-keys.ts`. */
async function discardObjects(tx: Transaction, projectId: string): Promise<void> {
  await tx.execute(sql`
    insert into discarded_objects (key, discarded_at, due_at)
    select key, now(), now() from (
      select archive_key as key from export_jobs where project_id = ${projectId} and archive_key is not null
        and archive_key not in (
          select archive_key from export_jobs where project_id <> ${projectId} and archive_key is not null)
      union select report_key from export_jobs where project_id = ${projectId} and report_key is not null
      union select 'reports/' || id || '/' from export_jobs where project_id = ${projectId}
      union select 'exports/' || id || '/' from export_jobs where project_id = ${projectId}
      union select 'agent/' || id || '/' from agent_jobs where project_id = ${projectId}
    ) keys
    on conflict (key) do update set due_at = excluded.due_at`);
}

/** Otherwise a project that is added again would get responses that name deleted jobs. */
async function forgetResponses(tx: Transaction, projectId: string): Promise<void> {
  await tx.execute(sql`
    delete from idempotency_keys where organization_id = (select organization_id from projects where id = ${projectId})
      and (substring(answer_json from '"jobId":"([^"]+)"') in (
          select id from export_jobs where project_id = ${projectId})
        or substring(answer_json from '^\{"id":"([^"]+)"') in (
          select id from agent_jobs where project_id = ${projectId}))`);
}
