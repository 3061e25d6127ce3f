import { sql } from 'drizzle-orm';
import { bigserial, check, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { moment } from './moment.ts';
import { organizations } from './organizations.ts';
import { projects } from './projects.ts';

/** Agent jobs: what the API reads. The workflow of the same id is what moves a row, one run at a time (design 10). */
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
    /** As the project had it when the job was made: a change of the project never moves a job elsewhere. */
    repository: text('repository').notNull(),
    /** The branch that the work starts from and the pull request asks to merge into; null: the remote's default. */
    ref: text('ref'),
    model: text('model').notNull(),
    status: text('status', { enum: ['active', 'completed', 'failed', 'archived'] })
      .notNull()
      .default('active'),
    prLink: text('pr_link'),
    /** The job's own branch: every run commits to it. */
    branch: text('branch').notNull(),
    /** The current run, from 1; each follow-up message makes the next. */
    run: integer('run').notNull().default(1),
    error: text('error'),
    /** Of the current run. */
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

/** One run for the job's prompt and one for each follow-up message, with what its steps have left for the next step. */
export const agentRuns = pgTable(
  'agent_runs',
  {
    jobId: text('job_id')
      .notNull()
      .references(() => agentJobs.id, { onDelete: 'cascade' }),
    run: integer('run').notNull(),
    /** A JSON string: PostgreSQL's text takes neither NUL nor half of a character, and a prompt may hold both. */
    promptJson: text('prompt_json').notNull(),
    status: text('status', { enum: ['active', 'completed', 'failed'] })
      .notNull()
      .default('active'),
    /** What the agent starts from: a full commit id. */
    baseCommit: text('base_commit'),
    outcomeKind: text('outcome_kind', { enum: ['changed', 'unchanged', 'failed'] }),
    outcomeTree: text('outcome_tree'),
    /** The object that holds the outcome's git pack. */
    outcomePackKey: text('outcome_pack_key'),
    outcomeError: text('outcome_error'),
    /** What was pushed, or was about to be. */
    commit: text('commit'),
    /** The page of the branch's pull request where that had ended before `commit` was to be pushed. */
    endedPrLink: text('ended_pr_link'),
    /** The pull request as this run left it. */
    prLink: text('pr_link'),
    logKey: text('log_key'),
    createdAt: moment('created_at').notNull().defaultNow(),
    startedAt: moment('started_at'),
    finishedAt: moment('finished_at'),
  },
  (table) => [
    primaryKey({ columns: [table.jobId, table.run] }),
    check('agent_runs_status_known', sql`${table.status} in ('active', 'completed', 'failed')`),
  ],
);
