import { endPullRequest, getPullRequest, type PullRequestRow } from '../store/pull-requests.ts';
import { listCommits } from './commits.ts';
import { enqueuePullRequestEvent, enqueuePushEvent, type Push } from './enqueue-webhooks.ts';
import { FORGE_OPERATOR, type ForgeContext } from './forge-context.ts';
import type { RepositoryGit } from './git.ts';
import type { Merge } from './merge-branches.ts';

/** GitHub returns a limited number too: the newest. */
const COMMITS_TOLD = 50;

/**
 * Records a merge that git has, once; later calls get the row unchanged. `by` is who merged, null if it happened
 * outside the forge.
 */
export async function recordMerge(
  context: ForgeContext,
  git: RepositoryGit,
  row: PullRequestRow,
  { by, ...merge }: Merge & { by: string | null },
): Promise<PullRequestRow> {
  const sender = by ?? FORGE_OPERATOR;
  // Query git before the transaction: it may take long, and the embedded database has one connection.
  const push = await pushOf(git, merge);
  const ended = await context.db.transaction(async (tx) => {
    const merged = await endPullRequest(tx, row.id, {
      state: 'merged',
      mergeCommitSha: merge.mergeCommitSha,
      headSha: merge.headSha,
      baseSha: merge.baseSha ?? row.baseSha,
      endedBy: by,
    });
    if (merged === undefined) return undefined;
    await enqueuePullRequestEvent(tx, context, merged, { action: 'closed', sender });
    if (push !== undefined) await enqueuePushEvent(tx, context, merged, { ...push, sender });
    return merged;
  });
  if (ended !== undefined) {
    context.logger.info({ repository: row.repository, number: row.number }, 'Merged a pull request');
  }
  return ended ?? (await getPullRequest(context.db, row.id)) ?? row;
}

/** Undefined if the base branch moved without a merge, so its earlier commit is unknown. */
async function pushOf(
  git: RepositoryGit,
  { mergeCommitSha, baseSha }: Merge,
): Promise<Omit<Push, 'sender'> | undefined> {
  if (baseSha === null) return undefined;
  const commits = await listCommits(git, { from: baseSha, to: mergeCommitSha, limit: COMMITS_TOLD });
  const [head] = commits;
  return head && { before: baseSha, after: mergeCommitSha, head, commits: commits.toReversed() };
}
