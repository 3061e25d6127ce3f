import { and, asc, desc, eq } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { pullRequestReviews } from './schema/pull-requests.ts';

export type ReviewRow = typeof pullRequestReviews.$inferSelect;

type NewReview = Pick<ReviewRow, 'pullRequestId' | 'reviewer' | 'verdict' | 'body' | 'commitSha'>;

export async function insertReview(db: Executor, review: NewReview): Promise<ReviewRow> {
  const [row] = await db.insert(pullRequestReviews).values(review).returning();
  if (row === undefined) throw new Error('The database returned no row for the new review');
  return row;
}

/** A reviewer's latest verdict on a pull request. */
export async function findNewestReview(
  db: Executor,
  { pullRequestId, reviewer }: { pullRequestId: string; reviewer: string },
): Promise<ReviewRow | undefined> {
  const [row] = await db
    .select()
    .from(pullRequestReviews)
    .where(and(eq(pullRequestReviews.pullRequestId, pullRequestId), eq(pullRequestReviews.reviewer, reviewer)))
    .orderBy(desc(pullRequestReviews.id))
    .limit(1);
  return row;
}

/** The newest reviews, in chronological order. */
export async function listReviews(db: Executor, pullRequestId: string, limit: number): Promise<ReviewRow[]> {
  const newest = db
    .select()
    .from(pullRequestReviews)
    .where(eq(pullRequestReviews.pullRequestId, pullRequestId))
    .orderBy(desc(pullRequestReviews.id))
    .limit(limit)
    .as('newest');
  return db.select().from(newest).orderBy(asc(newest.id));
}
