import { sql } from 'drizzle-orm';
import { bigint, bigserial, check, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { moment } from './moment.ts';
import { organizations, projects } from './organizations.ts';

/** Agent jobs as the API reads them. The workflow of the same id updates a row, one run at a time. */
export const agentJobs = pgTable(
  'agent_jobs',
  {
    id: text('id').primaryKey(),
    /** Order of creation, and the list's cursor. */
    sequence: bigserial('sequence', { mode: 'number' }).notNull().unique(),
    organizationId: text('organization_id')
      .notNull()
      .references(() => organizations.id),
    projectId: text('project_id')
      .notNull()
      .references(() => projects.id),
    /** The repository when the job was created: changing the project doesn't move a job. */
    repository: text('repository').notNull(),
    /** The branch that the work starts from, and the pull request's base; null: the remote's default. */
    ref: text('ref'),
    model: text('model').notNull(),
    status: text('status', { enum: ['active', 'completed', 'failed', 'archived'] })
      .notNull()
      .default('active'),
    prLink: text('pr_link'),
    /** The job's own branch, to which every run commits. */
    branch: text('branch').notNull(),
    /** The current run, from 1; each follow-up message adds one. */
    run: integer('run').notNull().default(1),
    error: text('error'),
    /** When a cancel of the current run was requested. */
    cancelRequestedAt: moment('cancel_requested_at'),
    archivedAt: moment('archived_at'),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [
    check('agent_jobs_status_known', sql`${table.status} in ('active', 'completed', 'failed', 'archived')`),
    index('agent_jobs_newest_first').on(table.projectId, table.sequence),
    index('agent_jobs_active').on(table.sequence).where(sql`${table.status} = 'active'`),
  ],
);

/** One run for the job's prompt and one for each follow-up message, with what its steps store for the next step. */
export const agentRuns = pgTable(
  'agent_runs',
  {
    jobId: text('job_id')
      .notNull()
      .references(() => agentJobs.id, { onDelete: 'cascade' }),
    run: integer('run').notNull(),
    /** A JSON string: a prompt may hold NUL and lone surrogates, which PostgreSQL's text can't. */
    promptJson: text('prompt_json').notNull(),
    status: text('status', { enum: ['active', 'completed', 'failed'] })
      .notNull()
      .default('active'),
    /** The full id of the commit that the agent starts from. */
    baseCommit: text('base_commit'),
    outcomeKind: text('outcome_kind', { enum: ['changed', 'unchanged', 'failed'] }),
    outcomeTree: text('outcome_tree'),
    /** The object with the result's git pack. */
    outcomePackKey: text('outcome_pack_key'),
    outcomeError: text('outcome_error'),
    /** The commit that was pushed or is about to be. */
    commit: text('commit'),
    /** The page of the branch's pull request if that had ended before `commit` was to be pushed. */
    endedPrLink: text('ended_pr_link'),
    /** The pull request after this run. */
    prLink: text('pr_link'),
    logKey: text('log_key'),
    logSizeBytes: bigint('log_size_bytes', { mode: 'number' }).notNull().default(0),
    createdAt: moment('created_at').notNull().defaultNow(),
    startedAt: moment('started_at'),
    finishedAt: moment('finished_at'),
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.run] }),
    check('agent_runs_status_known', sql`${table.status} in ('active', 'completed', 'failed')`),
  ],
);
