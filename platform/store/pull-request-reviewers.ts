import { asc, desc, eq } from 'drizzle-orm';
import type { Executor } from './database.ts';
import { pullRequestReviewers } from './schema/pull-requests.ts';

export type RequestedReviewer = Pick<typeof pullRequestReviewers.$inferSelect, 'kind' | 'name'>;

/** Adds reviewers; existing ones stay. */
export async function addRequestedReviewers(
  db: Executor,
  pullRequestId: string,
  reviewers: readonly RequestedReviewer[],
): Promise<void> {
  if (reviewers.length === 0) return;
  await db
    .insert(pullRequestReviewers)
    .values(reviewers.map(({ kind, name }) => ({ pullRequestId, kind, name })))
    .onConflictDoNothing();
}

/** Lists them in the order of the requests, people before teams before mail addresses. */
export async function listRequestedReviewers(db: Executor, pullRequestId: string): Promise<RequestedReviewer[]> {
  return db
    .select({ kind: pullRequestReviewers.kind, name: pullRequestReviewers.name })
    .from(pullRequestReviewers)
    .where(eq(pullRequestReviewers.pullRequestId, pullRequestId))
    .orderBy(asc(pullRequestReviewers.requestedAt), desc(pullRequestReviewers.kind), asc(pullRequestReviewers.name));
}
