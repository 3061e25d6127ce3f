import { sql } from 'drizzle-orm';
import { bigserial, check, index, integer, pgTable, primaryKey, text, unique, uniqueIndex } from 'drizzle-orm/pg-core';
import { moment } from './moment.ts';
import { projects } from './organizations.ts';

/** The embedded forge's pull requests. Commits and branches are in git; a row holds the rest. */
export const pullRequests = pgTable(
  'pull_requests',
  {
    /** Unguessable, because the page opens to anyone who has its link. */
    id: text('id').primaryKey(),
    /** The project whose webhook gets its events; null if no single project has the repository. */
    projectId: text('project_id').references(() => projects.id),
    /** A `file://` URL in the spelling of `openRepository`. */
    repository: text('repository').notNull(),
    /** Numbered within the repository, from 1. */
    number: integer('number').notNull(),
    author: text('author').notNull(),
    title: text('title').notNull(),
    body: text('body').notNull(),
    headBranch: text('head_branch').notNull(),
    headSha: text('head_sha').notNull(),
    baseBranch: text('base_branch').notNull(),
    /** The base branch's last known commit before the merge, for the diff after the merge. */
    baseSha: text('base_sha').notNull(),
    state: text('state', { enum: ['open', 'merged', 'closed'] })
      .notNull()
      .default('open'),
    mergeCommitSha: text('merge_commit_sha'),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
    /** When it was merged or closed. */
    endedAt: moment('ended_at'),
    /** Who merged or closed it; null while it is open, or if it was merged by git alone. */
    endedBy: text('ended_by'),
    /** Signs the reviewers' links; null before the first one and after the pull request's end, when none is valid. */
    reviewKey: text('review_key'),
  },
  (table) => [
    check('pull_requests_state_known', sql`${table.state} in ('open', 'merged', 'closed')`),
    check('pull_requests_merged_by_a_commit', sql`(${table.state} = 'merged') = (${table.mergeCommitSha} is not null)`),
    unique('pull_requests_number_within_repository').on(table.repository, table.number),
    uniqueIndex('pull_requests_one_open_per_branch')
      .on(table.repository, table.headBranch)
      .where(sql`${table.state} = 'open'`),
  ],
);

/** Requested reviewers. `mail` is an address that got a link to review: only members of the organization see it. */
export const pullRequestReviewers = pgTable(
  'pull_request_reviewers',
  {
    pullRequestId: text('pull_request_id')
      .notNull()
      .references(() => pullRequests.id, { onDelete: 'cascade' }),
    kind: text('kind', { enum: ['user', 'team', 'mail'] }).notNull(),
    name: text('name').notNull(),
    requestedAt: moment('requested_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.pullRequestId, table.kind, table.name] })],
);

/** Submitted reviews, in order. */
export const pullRequestReviews = pgTable(
  'pull_request_reviews',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    pullRequestId: text('pull_request_id')
      .notNull()
      .references(() => pullRequests.id, { onDelete: 'cascade' }),
    reviewer: text('reviewer').notNull(),
    verdict: text('verdict', { enum: ['approved', 'changes-requested', 'commented'] }).notNull(),
    body: text('body').notNull(),
    /** The reviewed head commit. */
    commitSha: text('commit_sha').notNull(),
    submittedAt: moment('submitted_at').notNull().defaultNow(),
  },
  (table) => [index('pull_request_reviews_in_order').on(table.pullRequestId, table.id)],
);
