import { sql } from 'drizzle-orm';
import { CANCELLED } from '../../contract/admin-api.ts';
import { FIGURE_DAYS } from '../../contract/site-figures.ts';
import type { Executor } from './database.ts';

/** What the dashboard's overview says about an organization's jobs. */

const SHOWN_NEEDS = 10;

type Counts = { completed: number; failed: number };

export type ProjectFigures = Counts & {
  projectId: string;
  domain: string;
  /** From the request to the end, of the completed ones. */
  medianMs: number | null;
  p95Ms: number | null;
};

export type Figures = {
  projects: readonly ProjectFigures[];
  /** By days ago. */
  days: ReadonlyMap<number, Counts>;
};

type Of = { organizationId: string; at: Date };

/**
 * Exports or agents' runs that ended today (UTC) or in the days before it, counted by one statement, so that table and plot
 * agree.
 */
export async function readFigures(
  db: Executor,
  kind: 'exports' | 'runs',
  { organizationId, at }: Of,
): Promise<Figures> {
  // A canceled export is neither completed nor failed. Which earlier runs were canceled isn't known, so these count as failed.
  const jobs =
    kind === 'exports'
      ? sql`select project_id, status, created_at, finished_at from export_jobs
          where organization_id = ${organizationId} and error is distinct from ${CANCELLED}`
      : sql`select project_id, run.status, run.created_at, run.finished_at
          from agent_runs run join agent_jobs job on job.id = run.job_id where organization_id = ${organizationId}`;
  const today = sql`(${at.toISOString()}::timestamptz at time zone 'UTC')::date`;
  const { rows } = await db.execute<ProjectFigures & { ago: number | null }>(sql`
    with ended as (
      select project_id, domain, status, extract(epoch from jobs.finished_at - jobs.created_at)::float8 * 1000 as took,
        ${today} - (jobs.finished_at at time zone 'UTC')::date as ago
      from (${jobs}) jobs join projects on projects.id = project_id
      where jobs.status in ('completed', 'failed')
        and jobs.finished_at >= (${today} - ${FIGURE_DAYS - 1}::int)::timestamp at time zone 'UTC')
    select project_id as "projectId", domain, ago, count(*) filter (where status = 'completed')::int as completed,
      count(*) filter (where status = 'failed')::int as failed,
      percentile_disc(0.5) within group (order by took) filter (where status = 'completed') as "medianMs",
      percentile_disc(0.95) within group (order by took) filter (where status = 'completed') as "p95Ms"
    from ended group by grouping sets ((project_id, domain), (ago)) order by domain, project_id`);
  const days = rows.flatMap(({ ago, completed, failed }) =>
    ago === null ? [] : [[ago, { completed, failed }] as const],
  );
  return { projects: rows.filter(({ ago }) => ago === null), days: new Map(days) };
}

export type Activity = {
  exports: number;
  agentJobs: number;
  /** In the last hour; the limit of prompts is per project, so these are of the project that sent most. */
  startsInHour: number;
  promptsInHour: number;
  /** What a new organization has to make. */
  hasProject: boolean;
  hasKey: boolean;
  /** It ever had a job. */
  hasJob: boolean;
};

export async function readActivity(db: Executor, { organizationId, at }: Of): Promise<Activity> {
  const hourAgo = new Date(at.getTime() - 3_600_000).toISOString();
  const { rows } = await db.execute<Activity>(sql`
    with exports as (select * from export_jobs where organization_id = ${organizationId}),
      agents as (select * from agent_jobs where organization_id = ${organizationId}),
      prompts as (select count(*)::int as sent from agent_runs run join agents on agents.id = run.job_id
        where run.created_at > ${hourAgo} group by project_id)
    select (select count(*)::int from exports where status in ('queued', 'running')) as exports,
      (select count(*)::int from agents where status = 'active') as "agentJobs",
      (select count(*)::int from exports where created_at > ${hourAgo}) as "startsInHour",
      (select coalesce(max(sent), 0) from prompts) as "promptsInHour",
      exists (select from projects where organization_id = ${organizationId}) as "hasProject",
      exists (select from api_keys where organization_id = ${organizationId} and revoked_at is null
        and (expires_at is null or expires_at > ${at.toISOString()})) as "hasKey",
      exists (select from exports) or exists (select from agents) as "hasJob"`);
  if (rows[0] === undefined) throw new Error('PostgreSQL returned no row');
  return rows[0];
}

export type Need = {
  /** The newest export of a project, canceled ones not counted, or an agent job, that failed; or the job of an open pull request. */
  kind: 'export' | 'agent' | 'change';
  jobId: string;
  domain: string;
  detail: string;
  at: string;
};

/** What a person has to look at, newest first, and how many there are in all. */
export async function listNeeds(db: Executor, { organizationId }: Of): Promise<{ needs: Need[]; total: number }> {
  const { rows } = await db.execute<Need & { total: number }>(sql`
    with own as (select id, domain from projects where organization_id = ${organizationId})
    select kind, "jobId", domain, detail, to_json(ended) #>> '{}' as at, count(*) over ()::int as total from (
      select 'export' as kind, newest.id as "jobId", own.domain, error as detail, finished_at as ended
      from own cross join lateral (
        select * from export_jobs where project_id = own.id and error is distinct from ${CANCELLED}
        order by sequence desc limit 1) newest
      where status = 'failed'
      union all
      select 'agent', job.id, own.domain, error, updated_at from own join agent_jobs job on job.project_id = own.id
      where status = 'failed' and error is distinct from ${CANCELLED}
      union all
      select 'change', job.id, own.domain, title, pull.created_at from own join agent_jobs job on job.project_id = own.id
      join pull_requests pull on pull.id = split_part(job.pr_link, '/pulls/', 2)
      where state = 'open' and job.status <> 'active'
    ) needs order by ended desc, "jobId" limit ${SHOWN_NEEDS}`);
  return { needs: rows, total: rows[0]?.total ?? 0 };
}
