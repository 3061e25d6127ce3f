import { and, asc, desc, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Executor, Transaction } from './database.ts';
import { newId } from './ids.ts';
import { lockUntilCommit } from './locks.ts';
import { pullRequests } from './schema/pull-requests.ts';

export type PullRequestRow = typeof pullRequests.$inferSelect;

export async function getPullRequest(db: Executor, id: string): Promise<PullRequestRow | undefined> {
  const [row] = await db.select().from(pullRequests).where(eq(pullRequests.id, id));
  return row;
}

/** The row, which nobody else changes until the transaction ends. */
export async function lockPullRequest(tx: Transaction, id: string): Promise<PullRequestRow | undefined> {
  const [row] = await tx.select().from(pullRequests).where(eq(pullRequests.id, id)).for('update');
  return row;
}

/** The branch's open pull request, else its newest. */
export async function findPullRequestOfBranch(
  db: Executor,
  { repository, headBranch }: { repository: string; headBranch: string },
): Promise<PullRequestRow | undefined> {
  const [row] = await db
    .select()
    .from(pullRequests)
    .where(and(eq(pullRequests.repository, repository), eq(pullRequests.headBranch, headBranch)))
    .orderBy(desc(eq(pullRequests.state, 'open')), desc(pullRequests.number))
    .limit(1);
  return row;
}

export type NewPullRequestRow = Pick<
  PullRequestRow,
  'projectId' | 'repository' | 'author' | 'title' | 'body' | 'headBranch' | 'headSha' | 'baseBranch' | 'baseSha'
>;

/** Opens one under the repository's next number; undefined where the branch has an open one already. */
export async function insertPullRequest(
  tx: Transaction,
  values: NewPullRequestRow,
): Promise<PullRequestRow | undefined> {
  await lockUntilCommit(tx, `pull-requests:${values.repository}`);
  const [last] = await tx
    .select({ number: pullRequests.number })
    .from(pullRequests)
    .where(eq(pullRequests.repository, values.repository))
    .orderBy(desc(pullRequests.number))
    .limit(1);
  const [row] = await tx
    .insert(pullRequests)
    .values({ ...values, id: newId.pullRequest(), number: (last?.number ?? 0) + 1 })
    .onConflictDoNothing()
    .returning();
  return row;
}

export type PullRequestChange = {
  [Column in 'title' | 'body' | 'headSha' | 'baseSha']?: PullRequestRow[Column] | undefined;
};

/** What isn't given stays. */
export async function changePullRequest(
  tx: Transaction,
  id: string,
  change: PullRequestChange,
): Promise<PullRequestRow | undefined> {
  const [row] = await tx
    .update(pullRequests)
    .set({ ...change, updatedAt: sql`now()` })
    .where(eq(pullRequests.id, id))
    .returning();
  return row;
}

export type PullRequestEnd = { endedBy: string | null } & (
  | { state: 'merged'; mergeCommitSha: string; headSha: string; baseSha: string }
  | { state: 'closed' }
);

/** The key that signs an open pull request's links, made of `newKey` if it has none; undefined if it isn't open. */
export async function keepReviewKey(db: Executor, id: string, newKey: string): Promise<string | undefined> {
  const [row] = await db
    .update(pullRequests)
    .set({ reviewKey: sql`coalesce(${pullRequests.reviewKey}, ${newKey})` })
    .where(and(eq(pullRequests.id, id), eq(pullRequests.state, 'open')))
    .returning({ key: pullRequests.reviewKey });
  return row?.key ?? undefined;
}

/**
 * Ends an open one; undefined where it has ended already, or was never there. What git has merged is merged, also where
 * it was closed a moment before. The reviewers' links end with it.
 */
export async function endPullRequest(
  tx: Transaction,
  id: string,
  end: PullRequestEnd,
): Promise<PullRequestRow | undefined> {
  const [row] = await tx
    .update(pullRequests)
    .set({ ...end, reviewKey: null, updatedAt: sql`now()`, endedAt: sql`now()` })
    .where(
      and(eq(pullRequests.id, id), inArray(pullRequests.state, end.state === 'merged' ? ['open', 'closed'] : ['open'])),
    )
    .returning();
  return row;
}

/** Open ones by repository and number, a page at a time: `after` is the page before's last row. */
export async function listOpenPullRequests(
  db: Executor,
  { after, limit }: { after?: Pick<PullRequestRow, 'repository' | 'number'> | undefined; limit: number },
): Promise<PullRequestRow[]> {
  const position = sql`(${pullRequests.repository}, ${pullRequests.number})`;
  return db
    .select()
    .from(pullRequests)
    .where(
      and(
        eq(pullRequests.state, 'open'),
        after === undefined ? undefined : gt(position, sql`(${after.repository}, ${after.number}::integer)`),
      ),
    )
    .orderBy(asc(pullRequests.repository), asc(pullRequests.number))
    .limit(limit);
}
