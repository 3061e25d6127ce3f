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

/** The states of these pull requests, by id. */
export async function listPullRequestStates(
  db: Executor,
  ids: readonly string[],
): Promise<Map<string, PullRequestRow['state']>> {
  const { id, state } = pullRequests;
  const rows = await db
    .select({ id, state })
    .from(pullRequests)
    .where(inArray(id, [...ids]));
  return new Map(rows.map((row) => [row.id, row.state]));
}

/** Locks and returns the row until the transaction ends. */
export async function lockPullRequest(tx: Transaction, id: string): Promise<PullRequestRow | undefined> {
  const [row] = await tx.select().from(pullRequests).where(eq(pullRequests.id, id)).for('update');
  return row;
}

/** The branch's open pull request, otherwise its newest. */
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

type NewPullRequestRow = Pick<
  PullRequestRow,
  'projectId' | 'repository' | 'author' | 'title' | 'body' | 'headBranch' | 'headSha' | 'baseBranch' | 'baseSha'
>;

/** Opens a pull request with the repository's next number; undefined if the branch has an open one. */
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

type PullRequestChange = {
  [Column in 'title' | 'body' | 'headSha' | 'baseSha']?: PullRequestRow[Column] | undefined;
};

/** Omitted fields stay unchanged. */
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

type PullRequestEnd = { endedBy: string | null } & (
  | { state: 'merged'; mergeCommitSha: string; headSha: string; baseSha: string }
  | { state: 'closed' }
);

/** The key that signs an open pull request's links; stores `newKey` if it has none. Undefined if it isn't open. */
export async function keepReviewKey(db: Executor, id: string, newKey: string): Promise<string | undefined> {
  const [row] = await db
    .update(pullRequests)
    .set({ reviewKey: sql`coalesce(${pullRequests.reviewKey}, ${newKey})` })
    .where(and(eq(pullRequests.id, id), eq(pullRequests.state, 'open')))
    .returning({ key: pullRequests.reviewKey });
  return row?.key ?? undefined;
}

/**
 * Ends an open pull request; undefined if it has ended or doesn't exist. One that git has merged becomes merged even if
 * it was closed just before. Revokes the reviewers' links.
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

/** Open pull requests by repository and number, paged: `after` is the last row of the page before. */
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
